export const meta = { name: 'schema-review', description: 'Review parts of a catalogue by a strict form' }
const REVIEW = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
  required: ['code', 'grade', 'score'],
  properties: {
    code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' },
    grade: { enum: ['good', 'fair', 'poor', null] },
    score: { type: 'integer', minimum: 0, maximum: 10 },
    notes: { type: ['string', 'null'], maxLength: 40 },
    tags: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string' } },
  },
}
const parts = ['AB', 'CD', 'EF', 'GH', 'IJ']
const reviews = await parallel(parts.map((part) => () => agent(`Review ${part}`, { label: part, schema: REVIEW })))
const table = {}
reviews.forEach((review, at) => {
  table[parts[at]] = review ? `${review.code} ${review.grade ?? 'ungraded'} ${review.score}` : 'not usable'
})
const usable = reviews.filter(Boolean)
const mean = usable.reduce((sum, review) => sum + review.score, 0) / (usable.length || 1)
return { table, mean, tags: [...new Set(usable.flatMap((review) => review.tags ?? []))] }
