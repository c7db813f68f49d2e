export const meta = { name: 'route', description: 'A route between two towns' }
phase('Ask the way')
const answer = await agent(`Route from ${args.from} to ${args.to}`, { label: 'way' })
return { legs: answer.split(',') }
