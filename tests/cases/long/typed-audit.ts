export const meta = {
  name: 'typed-audit',
  description: 'Audit rooms by a typed plan',
  phases: [{ title: 'Audit' }],
} as const satisfies { name: string; description: string; phases: { title: string }[] }

interface Finding { room: string; risk: 'low' | 'high'; text?: string }
type Plan = { rooms: string[]; limit?: number }

const FINDING = {
  type: 'object',
  required: ['room', 'risk'],
  properties: { room: { type: 'string' }, risk: { enum: ['low', 'high'] }, text: { type: 'string' } },
} as const

const plan: Plan = (args ?? { rooms: [] }) as Plan
phase('Audit')
const found: (Finding | null)[] = await parallel(
  plan.rooms.map((room: string) => (): Promise<Finding | null> => agent(`Audit ${room}`, { label: room, schema: FINDING })),
)
const risky = found.filter((one): one is Finding => one?.risk === 'high')
enum Outcome { Calm = 'calm', Alarm = 'alarm' }
const outcome: Outcome = risky.length > (plan.limit ?? 0) ? Outcome.Alarm : Outcome.Calm
return { outcome, rooms: risky.map(({ room }) => room) }
