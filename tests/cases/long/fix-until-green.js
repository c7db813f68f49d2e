export const meta = { name: 'fix-until-green', description: 'Fix and test until the tests pass' }
const RUN = { type: 'object', required: ['passed', 'failures'], properties: { passed: { type: 'boolean' }, failures: { type: 'array', items: { type: 'string' } } } }
let want = args
if (typeof want === 'string') want = JSON.parse(want || '{}')
const most = Number(want.rounds ?? 5)
const tried = []
let state = await agent('Run the tests', { label: 'test#0', schema: RUN })
let round = 0
while (state && !state.passed && round < most) {
  round += 1
  const worst = state.failures[0]
  if (tried.includes(worst)) log(`${worst} fails again`)
  tried.push(worst)
  await agent(`Fix ${worst}, round ${round}`, { label: `fix#${round}`, effort: round > 1 ? 'high' : undefined })
  state = await agent(`Run the tests after round ${round}`, { label: `test#${round}`, schema: RUN })
}
return { passed: state?.passed ?? false, rounds: round, tried, left: state?.failures ?? null }
