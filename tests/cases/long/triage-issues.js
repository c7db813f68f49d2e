export const meta = { name: 'triage-issues', description: 'Sort reports and answer each in its lane' }
const KIND = { type: 'object', required: ['kind'], properties: { kind: { enum: ['bug', 'wish', 'question'] }, urgent: { type: 'boolean' } } }
const LANES = {
  bug: { model: 'opus', ask: (report) => `Find the cause: ${report}` },
  wish: { model: undefined, ask: (report) => `Weigh the wish: ${report}` },
  question: { model: 'haiku', ask: (report) => `Answer: ${report}` },
}
const sorted = await parallel(args.map((report, at) => () => agent(`Sort: ${report}`, { label: `sort ${at + 1}`, phase: 'Sort', schema: KIND })))
const lanes = Object.groupBy(args.map((report, at) => ({ report, ...sorted[at] })), ({ kind }) => kind ?? 'unsorted')
const out = {}
for (const [kind, reports] of Object.entries(lanes)) {
  const lane = LANES[kind]
  if (!lane) { out[kind] = reports.map(({ report }) => report); continue }
  reports.sort((a, b) => Number(b.urgent ?? false) - Number(a.urgent ?? false))
  const answers = await parallel(reports.map(({ report }) => () => agent(lane.ask(report), { phase: `Lane ${kind}`, model: lane.model })))
  out[kind] = Object.fromEntries(reports.map(({ report }, at) => [report, answers[at]]))
}
return out
