export const meta = { name: 'translate-pages', description: 'Translate pages into several languages and check each' }
const LINE = { type: 'object', required: ['language', 'text'], properties: { language: { type: 'string', pattern: '^[a-z]{2}(-[A-Z]{2})?$' }, text: { type: 'string', minLength: 1 } } }
const languages = ['da', 'ko']
const pages = await pipeline(
  ['home', 'help'],
  (page) => parallel(languages.map((language) => () => agent(`${page} in ${language}`, { label: `${page}/${language}`, schema: LINE }))),
  (lines, page) => ({ page, lines: lines.filter(Boolean), missing: languages.filter((_, at) => !lines[at]) }),
  async (entry) => (entry.missing.length === 0 ? entry : { ...entry, note: await agent(`Why no ${entry.missing.join(', ')} for ${entry.page}?`) }),
)
return pages.map(({ page, lines, note }) => ({ page, text: lines.map((line) => line.text).join(' / '), note: note ?? null }))
