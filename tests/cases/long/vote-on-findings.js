export const meta = {
  name: 'vote-on-findings',
  description: 'Find complaints about each shelf and let three readers vote on every one',
  phases: [{ title: 'Find' }, { title: 'Vote', model: 'haiku' }],
}
const FINDINGS = {
  type: 'object',
  required: ['findings'],
  properties: {
    findings: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['title', 'severity'],
        properties: { title: { type: 'string' }, severity: { enum: ['low', 'high'] } },
      },
    },
  },
}
const VOTE = { type: 'object', required: ['real'], properties: { real: { type: 'boolean' }, why: { type: 'string' } } }
const LENSES = ['safety', 'cost', 'looks']
const results = await pipeline(
  args.shelves,
  (shelf) => agent(`Look at ${shelf}`, { label: `look:${shelf}`, phase: 'Find', schema: FINDINGS }),
  async (found, shelf) => {
    const judged = await parallel(found.findings.map((finding) => async () => {
      const votes = await parallel(LENSES.map((lens) => () =>
        agent(`Is "${finding.title}" real for ${lens}?`, { label: `${lens}:${finding.title}`, phase: 'Vote', schema: VOTE })))
      const yes = votes.filter((vote) => vote?.real).length
      return { ...finding, shelf, yes, of: votes.filter(Boolean).length }
    }))
    return judged.filter(Boolean)
  },
)
const all = results.filter(Boolean).flat()
const confirmed = all.filter((one) => one.yes * 2 > one.of)
confirmed.sort((a, b) => (a.severity === b.severity ? a.title.localeCompare(b.title) : a.severity === 'high' ? -1 : 1))
return { confirmed: confirmed.map((one) => `${one.shelf}: ${one.title} (${one.yes}/${one.of})`), refuted: all.length - confirmed.length }
