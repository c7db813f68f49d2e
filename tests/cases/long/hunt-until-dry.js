export const meta = {
  name: 'hunt-until-dry',
  description: 'Send finders over the stock list until two rounds in a row bring nothing new',
  whenToUse: 'Before stock-taking. args: {areas: string[], rounds?: number}',
  phases: [{ title: 'Hunt' }, { title: 'Sum up' }],
}
const FOUND = {
  type: 'object',
  properties: { items: { type: 'array', items: { type: 'string' } } },
  required: ['items'],
}
const { areas, rounds = 6 } = args
const known = new Set()
const history = []
let quiet = 0
for (let round = 1; round <= rounds && quiet < 2; round++) {
  phase('Hunt')
  const before = known.size
  const batch = await parallel(areas.map((area) => () =>
    agent(`Round ${round}: hunt in ${area}`, { label: `${area}#${round}`, schema: FOUND })))
  for (const reply of batch.filter(Boolean)) {
    for (const item of reply.items) known.add(item.trim().toLowerCase())
  }
  const fresh = known.size - before
  quiet = fresh > 0 ? 0 : quiet + 1
  history.push(fresh)
  log(`round ${round}: ${fresh} new, ${known.size} in all`)
}
phase('Sum up')
const list = [...known].sort()
const summary = await agent(`Sum up: ${list.join(', ')}`, { label: 'sum up' })
return { history, list, summary }
