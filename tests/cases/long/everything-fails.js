export const meta = { name: 'everything-fails', description: 'What becomes of agents that fail in every way' }
const YES = { type: 'object', required: ['yes'], properties: { yes: { const: true } } }
const asked = ['refuses', 'runs out', 'breaks', 'never starts', 'answers wrongly']
const holes = await parallel(asked.map((what) => () => agent(what, { label: what, schema: what === 'answers wrongly' ? YES : undefined })))
const thrown = await parallel([
  () => { throw new TypeError('a bug of the script') },
  async () => agent(''),
  () => agent('works').then((text) => text.toUpperCase()),
])
const caught = await agent('breaks').then((value) => (value === null ? 'nothing' : value)).catch((error) => error.code)
let misuse = ''
try { await pipeline('text', (one) => one) } catch (error) { misuse = error.message }
const dropped = agent('nobody waits for this').then(() => { throw new Error('unheard') })
const rest = await agent('works')
return { holes, thrown, caught, misuse, rest, dropped: typeof dropped.then }
