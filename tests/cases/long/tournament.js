export const meta = { name: 'tournament', description: 'Find the best name in rounds of pairs' }
const PICK = { type: 'object', required: ['pick'], properties: { pick: { type: 'integer', minimum: 1, maximum: 2 } } }
async function round(names, number) {
  if (names.length === 1) return { best: names[0], rounds: number - 1 }
  phase(`Round ${number}`)
  const pairs = []
  for (let at = 0; at < names.length; at += 2) pairs.push(names.slice(at, at + 2))
  const winners = await parallel(pairs.map(([one, other]) => async () => {
    if (other === undefined) return one
    const choice = await agent(`${one} or ${other}?`, { label: `${one}:${other}`, schema: PICK })
    return choice?.pick === 2 ? other : one
  }))
  return round(winners.filter(Boolean), number + 1)
}
return await round(args, 1)
