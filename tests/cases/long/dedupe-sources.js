export const meta = { name: 'dedupe-sources', description: 'Search from several sides and keep one source of each host' }
const SOURCES = {
  type: 'object', required: ['sources'],
  properties: { sources: { type: 'array', maxItems: 5, items: {
    type: 'object', required: ['url'], properties: { url: { type: 'string', format: 'uri' }, weight: { type: 'number' } } } } },
}
function hostOf(url) {
  try {
    return new URL(url).hostname.replace(/^www\./, '')
  } catch {
    return null
  }
}
phase('Search')
const queries = ['history of tea', 'tea ceremonies', 'tea trade']
const answers = await parallel(queries.map((query) => () => agent(`Search: ${query}`, { label: query, schema: SOURCES })))
const best = new Map()
let broken = 0
for (const { url, weight = 1 } of answers.filter(Boolean).flatMap((answer) => answer.sources)) {
  const host = hostOf(url)
  if (!host) { broken += 1; continue }
  const seen = best.get(host)
  if (!seen || seen.weight < weight) best.set(host, { url, weight })
}
phase('Read')
const read = await parallel([...best.values()].map(({ url }) => () => agent(`Read ${url}`, { label: hostOf(url) })))
const quotes = Object.fromEntries([...best.keys()].map((host, at) => [host, read[at]]))
return { broken, quotes }
