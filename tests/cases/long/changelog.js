export const meta = { name: 'changelog', description: 'Turn commit messages into a changelog' }
const LINE = /^(?<kind>feat|fix|docs)(?:\((?<room>[a-z-]+)\))?(?<breaking>!)?: (?<text>.+)$/u
const raw = await agent('List the commits', { label: 'commits' })
const commits = raw.split('\n').map((line) => LINE.exec(line.trim())?.groups).filter(Boolean)
const skipped = raw.split('\n').length - commits.length
const rooms = [...new Set(commits.map(({ room }) => room ?? 'all'))].sort((a, b) => a.localeCompare(b))
const texts = await parallel(rooms.map((room) => () => {
  const own = commits.filter((commit) => (commit.room ?? 'all') === room)
  const breaking = own.some((commit) => commit.breaking === '!')
  return agent(`Describe ${room}: ${own.map((commit) => commit.text).join('; ')}`, { label: room, model: breaking ? 'opus' : null })
}))
const sections = rooms.map((room, at) => `### ${room.replaceAll('-', ' ')}\n${texts[at] ?? '(see the log)'}`)
const version = commits.some((commit) => commit.breaking) ? '2.0.0' : commits.some((commit) => commit.kind === 'feat') ? '1.1.0' : '1.0.1'
return { version, skipped, text: sections.join('\n\n') }
