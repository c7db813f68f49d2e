export const meta = { name: 'quality-gate', description: 'Write, score and rewrite until a page is good enough' }
const SCORE = { type: 'object', required: ['score'], properties: { score: { type: 'number', minimum: 0, maximum: 1, multipleOf: 0.05 }, advice: { type: 'string' } } }
const GOOD = 0.7
async function gated(page) {
  let text = await agent(`Write ${page}`, { label: `write ${page}`, phase: 'Write' })
  text ||= await agent(`Write ${page} instead`, { label: `reserve ${page}`, phase: 'Write' })
  if (!text) throw new Error(`nobody wrote ${page}`)
  for (let round = 1; ; round++) {
    const judged = await agent(`Score ${page}: ${text}`, { label: `score ${page}#${round}`, phase: 'Score', schema: SCORE })
    const score = judged?.score ?? 0
    if (score >= GOOD || round === 3) return { page, score, round, text }
    text = (await agent(`Improve ${page}: ${judged?.advice ?? 'say more'}`, { label: `improve ${page}#${round}`, phase: 'Write' })) || text
  }
}
const pages = await parallel(args.pages.map((page) => () => gated(page)))
const good = pages.filter((page) => page && page.score >= GOOD)
return { good: good.map(({ page, round }) => `${page}@${round}`), poor: args.pages.filter((page) => !good.some((one) => one.page === page)) }
