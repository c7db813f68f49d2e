export const meta = { name: 'debate', description: 'Let two sides argue until the judge has heard enough' }
const VERDICT = { type: 'object', required: ['enough'], properties: { enough: { type: 'boolean' }, winner: { enum: ['for', 'against'] } } }
const record = []
let verdict = null
for (let turn = 1; turn <= 4; turn++) {
  phase(`Turn ${turn}`)
  for (const side of ['for', 'against']) {
    const last = record.at(-1)
    const words = await agent(last ? `${side} answers "${last.words}"` : `${side} opens: ${args}`, { label: `${side} ${turn}` })
    record.push({ side, words: words ?? '(silence)' })
  }
  verdict = await agent(`Judge after ${record.length} speeches`, { label: `judge ${turn}`, schema: VERDICT })
  if (verdict?.enough) break
}
return { winner: verdict?.winner ?? 'nobody', speeches: record.map(({ side, words }) => `${side}: ${words}`) }
