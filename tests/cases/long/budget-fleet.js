export const meta = { name: 'budget-fleet', description: 'Read as many books as the token budget allows' }
const COST = 1000
const fleet = budget.total ? Math.max(1, Math.floor(budget.total / COST / 2)) : 3
const shelf = Array.from({ length: 20 }, (_, at) => `book ${at + 1}`)
const read = []
let wave = 0
while (shelf.length > 0 && budget.remaining() >= COST) {
  wave += 1
  phase(`Wave ${wave}`)
  const batch = shelf.splice(0, fleet)
  const notes = await parallel(batch.map((book) => () => agent(`Read ${book}`)))
  read.push(...notes.filter(Boolean))
  log(`${read.length} read, ${budget.spent()} tokens used`)
}
let stopped = null
try {
  await agent('One more')
  await agent('And one more')
} catch (error) {
  stopped = error.code
}
return { fleet, wave, read: read.length, left: shelf.length, spent: budget.spent(), stopped }
