export const meta = { name: 'lane-clock', description: 'Give each lane a time and go on without the slow ones' }
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function lane(name, ms) {
  const late = sleep(ms).then(() => 'late')
  const result = await Promise.race([agent(`Lane ${name}`, { label: name }), late])
  return result === 'late' ? { name, late: true } : { name, text: result }
}
const began = Date.now()
const lanes = []
for (const [name, ms] of [['quick', 5000], ['slow', 60], ['steady', 5000]]) {
  lanes.push(lane(name, ms))
  await sleep(5)
}
const results = await Promise.all(lanes)
return { results, took: Date.now() - began < 4000 }
