export const meta = { name: 'judge-panel', description: 'Let a panel score every dish and rank them' }
const SCORES = {
  type: 'array',
  minItems: 3,
  items: { type: 'object', required: ['dish', 'points'], properties: { dish: { type: 'string' }, points: { type: 'integer', minimum: 1, maximum: 5 } } },
}
const dishes = ['soup', 'bread', 'cake']
const judges = ['Ada', 'Bo', 'Cy', 'Di']
const panels = await parallel(judges.map((judge) => () =>
  agent(`${judge} scores ${dishes.join(', ')}`, { label: judge, phase: 'Score', schema: SCORES })))
const points = new Map(dishes.map((dish) => [dish, []]))
for (const scores of panels) {
  if (!Array.isArray(scores)) continue
  for (const { dish, points: given } of scores) points.get(dish)?.push(given)
}
const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length
const ranked = [...points]
  .map(([dish, given]) => ({ dish, mean: Number(mean(given).toFixed(2)), votes: given.length }))
  .sort((a, b) => b.mean - a.mean || a.dish.localeCompare(b.dish))
const speech = await agent(`Praise ${ranked[0].dish}`, { label: 'speech', phase: 'Praise' })
return { ranked, speech, absent: judges.filter((_, at) => !panels[at]) }
