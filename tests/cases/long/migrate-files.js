export const meta = {
  name: 'migrate-files',
  description: 'Move files to the new form: read, rewrite, check',
  whenToUse: 'args: {files: string[]}',
  phases: ['Read', 'Rewrite', 'Check'],
}
const CHECK = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' }, why: { type: 'string' } } }
async function twice(prompt, options) {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const result = await agent(attempt === 1 ? prompt : `${prompt} (again)`, options)
    if (result !== null) return result
    log(`${options.label}: attempt ${attempt} came to nothing`)
  }
  throw new Error(`${options.label} was given up`)
}
const done = await pipeline(
  args.files,
  (file) => twice(`Read ${file}`, { label: `read ${file}`, phase: 'Read' }),
  (text, file) => twice(`Rewrite ${file}: ${text}`, { label: `rewrite ${file}`, phase: 'Rewrite' }),
  async (text, file, index) => {
    const check = await twice(`Check ${file}`, { label: `check ${file}`, phase: 'Check', schema: CHECK })
    return { file, index, text, ok: check.ok }
  },
)
const given = args.files.filter((_, at) => !done[at])
return { moved: done.filter(Boolean), given }
