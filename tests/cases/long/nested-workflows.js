export const meta = { name: 'nested-workflows', description: 'Plan a trip with the scripts that plan its parts' }
phase('Parts')
const parts = await parallel([
  () => workflow('route', { from: args.from, to: args.to }),
  () => workflow('packing', ['coat', 'map']),
  () => workflow('route', { from: args.to, to: args.from }),
])
let missing = ''
try {
  await workflow('tickets')
} catch (error) {
  missing = error.code
}
phase('Together')
const [there, bag, back] = parts
const plan = await agent(`Plan: ${there.legs.join(' > ')} | ${bag.join(' + ')} | ${back.legs.join(' > ')}`, { label: 'plan' })
return { plan, missing, nested: parts.map((part) => Array.isArray(part)) }
