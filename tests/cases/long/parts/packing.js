export const meta = { name: 'packing', description: 'What goes into the bag' }
const packed = await pipeline(args, (thing) => agent(`Pack ${thing}`), (text) => text.trim())
return packed.filter(Boolean)
