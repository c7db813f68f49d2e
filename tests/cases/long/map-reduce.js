export const meta = { name: 'map-reduce', description: 'Sum up a long list by chunks and merges' }
function chunks(list, size) {
  const made = []
  for (let at = 0; at < list.length; at += size) made.push(list.slice(at, at + size))
  return made
}
const entries = Array.from({ length: 14 }, (_, at) => at + 1)
phase('Map')
let level = await parallel(chunks(entries, 2).map((chunk) => () => agent(`sum ${chunk.join('+')}`, { label: `chunk ${chunk[0]}` })))
let depth = 0
while (level.length > 1) {
  depth += 1
  phase(`Merge ${depth}`)
  level = await parallel(chunks(level, 3).map((group) => () => (group.length === 1 ? group[0] : agent(`merge ${group.join('|')}`, { label: `merge of ${group.length}` }))))
}
const waits = level.filter((one) => typeof one === 'string').length
return { depth, text: level[0], waits }
