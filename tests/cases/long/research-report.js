export const meta = { name: 'research-report', description: 'Ask broadly, follow the best threads, write a report', phases: [{ title: 'Broad' }, { title: 'Deep' }, { title: 'Write' }] }
const THREADS = { type: 'object', required: ['threads'], properties: { threads: { type: 'array', items: {
  type: 'object', required: ['name', 'worth'], properties: { name: { type: 'string' }, worth: { type: 'number' } } } } } }
const subject = typeof args === 'string' ? args.trim() : args.subject
const angles = ['people', 'tools', 'places']
phase('Broad')
const broad = await parallel(angles.map((angle) => () => agent(`${subject}: ${angle}`, { label: angle, schema: THREADS })))
const threads = broad
  .flatMap((answer, at) => (answer?.threads ?? []).map((thread) => ({ ...thread, angle: angles[at] })))
  .filter((thread) => thread.worth >= 0.5)
  .sort((a, b) => b.worth - a.worth)
  .slice(0, 3)
phase('Deep')
const deep = await parallel(threads.map(({ name, angle }) => () => agent(`More on ${name} (${angle})`, { label: name })))
const chapters = threads.map(({ name }, at) => `## ${name}\n${deep[at] ?? '(nothing found)'}`)
phase('Write')
const report = await agent(`Write it up:\n${chapters.join('\n')}`, { label: 'writer', model: 'opus' })
return { subject, threads: threads.map((thread) => thread.name), report }
