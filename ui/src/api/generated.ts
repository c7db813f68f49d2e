// Made from crates/api by `cargo xtask gen`; do not edit.

/** Any JSON value. */
export type JsonValue = unknown;

/**
 * What was done with a question.
 */
export type AnswerAction = "accept" | "decline" | "cancel";

/**
 * What was answered to a question.
 */
export type Answered = { 
/**
 * What was done with it.
 */
action: AnswerAction, 
/**
 * The values, secrets masked.
 */
content: JsonValue, 
/**
 * Who answered: `client`, `cli`, `desktop`.
 */
by: string, 
/**
 * When.
 */
at: number, };

/**
 * Why a command failed.
 */
export type ApiError = { 
/**
 * Which kind of failure.
 */
code: ApiErrorCode, 
/**
 * One sentence that names the thing and the reason.
 */
message: string, 
/**
 * Facts for programs.
 */
detail?: JsonValue, 
/**
 * What to do next.
 */
hint?: string, };

/**
 * The codes. The page has a text for each.
 */
export type ApiErrorCode = "not_found" | "invalid_input" | "conflict" | "running" | "already_answered" | "not_waiting" | "project_missing" | "no_project" | "project_broken" | "store_unavailable" | "store_too_new" | "disk_full" | "permission" | "secret_service" | "client_file" | "unsupported" | "internal";

/**
 * The installation and the settings.
 */
export type AppInfo = { 
/**
 * The version of this build.
 */
version: string, 
/**
 * The profile.
 */
profile: string, 
/**
 * Where the profile's data is.
 */
dataDir: string, 
/**
 * The database of registry and history.
 */
database: string, 
/**
 * The operating system.
 */
platform: "linux" | "macos" | "windows", 
/**
 * The person's language, a BCP 47 tag.
 */
locale: string, 
/**
 * The executable that clients start.
 */
executable: string, 
/**
 * The settings.
 */
settings: AppSettings, 
/**
 * Every profile of this person.
 */
profiles: Array<string>, 
/**
 * The place in the change feed that this answer is of.
 */
seq: number, };

/**
 * The window's settings.
 */
export type AppSettings = { 
/**
 * Colours.
 */
theme: "system" | "light" | "dark", 
/**
 * Language.
 */
language: "system" | "en" | "zh-CN", 
/**
 * Size of the text, in percent.
 */
textSize: number, 
/**
 * Whether single keys are short cuts.
 */
singleKeys: boolean, 
/**
 * What may notify the person.
 */
notify: NotifySettings, 
/**
 * Who starts agents, where a project says nothing.
 */
provider?: string, 
/**
 * How long runs are kept, where a project says nothing.
 */
retention: Retention, 
/**
 * How many days a run waits for an answer before it is given up, counted from each question.
 */
waitDays: number, 
/**
 * Notices that were closed for good.
 */
dismissed: Array<string>, };

/**
 * A program that a run wants to start, whole.
 */
export type Approval = { 
/**
 * The program.
 */
program: string, 
/**
 * Its arguments.
 */
args: Array<string>, 
/**
 * The folder it is started in, absolute.
 */
folder: string, 
/**
 * Names of the environment variables that the call sets.
 */
env: Array<string>, 
/**
 * How many bytes the call writes to the program's standard input, if it writes any.
 */
stdinBytes?: number, 
/**
 * Whether it was started before by a process that is gone, and may have done its work.
 */
mayHaveHappened: boolean, };

/**
 * Whether a client can put a question before the person.
 */
export type Ask = "yes" | "perhaps" | "no";

/**
 * What a tool answers, as in the protocol.
 */
export type BoardAnswer = JsonValue;

/**
 * A card as a column shows it.
 */
export type BoardCard = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * Its type.
 */
type: string, 
/**
 * Its status.
 */
status: string, 
/**
 * Its priority.
 */
priority: string, 
/**
 * Its area.
 */
area?: string, 
/**
 * Its tags.
 */
tags: Array<string>, 
/**
 * The card it is part of.
 */
parent?: string, 
/**
 * The cards it depends on.
 */
depends: Array<string>, 
/**
 * Who holds it.
 */
claim?: BoardClaim, 
/**
 * How far its criteria are.
 */
acceptance?: BoardProgress, 
/**
 * The day it was last changed.
 */
updated: string, 
/**
 * The day it is due.
 */
due?: string, 
/**
 * The revision of its file.
 */
revision: string, 
/**
 * Whether it lies in the archive.
 */
archived: boolean, 
/**
 * Its file, relative to the project.
 */
path: string, };

/**
 * A card, whole.
 */
export type BoardCardDetail = { 
/**
 * The record as the tools give it.
 */
record: JsonValue, 
/**
 * Its body.
 */
body: string, 
/**
 * Its criteria.
 */
acceptance: Array<BoardCriterion>, 
/**
 * What happened to it, the last first.
 */
activity: Array<BoardEvent>, 
/**
 * Where it could go.
 */
refusals: Array<BoardRefusal>, 
/**
 * Records around it.
 */
related: Array<BoardRelated>, };

/**
 * A claim.
 */
export type BoardClaim = { 
/**
 * Who holds the card.
 */
by: string, 
/**
 * Whether they are there.
 */
state: ClaimState, 
/**
 * Since when.
 */
since?: number, 
/**
 * The paths that are worked on.
 */
scope?: Array<string>, };

/**
 * A criterion.
 */
export type BoardCriterion = { 
/**
 * Its text.
 */
text: string, 
/**
 * Whether it is ticked.
 */
done: boolean, 
/**
 * Its number in the card, from 1.
 */
line: number, };

/**
 * Something that happened to a card.
 */
export type BoardEvent = { 
/**
 * When, as the card has it.
 */
at?: string, 
/**
 * Who did it.
 */
who?: string, 
/**
 * What.
 */
text: string, };

/**
 * What is left after mending.
 */
export type BoardMended = { 
/**
 * Findings with that code that are still there.
 */
left: number, };

/**
 * What a move to a status must say.
 */
export type BoardNeed = "reason" | "evidence" | "run" | "claim";

/**
 * How many acceptance criteria are ticked.
 */
export type BoardProgress = { 
/**
 * Ticked.
 */
done: number, 
/**
 * All.
 */
total: number, };

/**
 * What stands between a card and a status.
 */
export type BoardRefusal = { 
/**
 * The status.
 */
status: string, 
/**
 * Why it is refused; empty: it is not.
 */
reasons: Array<string>, 
/**
 * The board's own code of each reason, in the same order.
 */
codes: Array<string>, 
/**
 * What the move must say.
 */
needs: Array<BoardNeed>, };

/**
 * A record that a card names, or that names it.
 */
export type BoardRelated = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * Its status.
 */
status?: string, 
/**
 * How they are related.
 */
relation: string, };

/**
 * A status, as a column.
 */
export type BoardStatus = { 
/**
 * Its name.
 */
id: string, 
/**
 * Not shown until asked for.
 */
hidden: boolean, 
/**
 * Cards in it are finished.
 */
terminal: boolean, 
/**
 * What every move to it must say.
 */
needs: Array<BoardNeed>, };

/**
 * A board, whole.
 */
export type BoardView = { 
/**
 * The columns, in their order.
 */
statuses: Array<BoardStatus>, 
/**
 * The types a card may have.
 */
types: Array<string>, 
/**
 * The priorities, most pressing first.
 */
priorities: Array<string>, 
/**
 * The areas of this project.
 */
areas: Array<string>, 
/**
 * All cards.
 */
cards: Array<BoardCard>, 
/**
 * How many documents there are.
 */
documents: number, 
/**
 * How many fragments of the changelog are not released.
 */
fragments: number, 
/**
 * How many things are remembered.
 */
memory: number, 
/**
 * How many findings the doctor has, without looking at git.
 */
findings: number, 
/**
 * Codes of findings that `board_mend` mends.
 */
mendable: Array<string>, 
/**
 * Who acts here.
 */
actor: string, 
/**
 * Whether nothing may be written.
 */
readOnly: boolean, 
/**
 * Another text when anything has changed on disk.
 */
mark: string, };

/**
 * What is wrong with an input; nothing when it fits.
 */
export type CheckedInput = { 
/**
 * All faults at once.
 */
faults: Array<Fault>, };

/**
 * Whether whoever holds a card is there.
 */
export type ClaimState = "live" | "held" | "stale" | "orphaned";

/**
 * What a client made of a question that it was to put before its person.
 */
export type ClientAnswer = "declined" | "cannot_ask";

/**
 * Where a connection comes from.
 */
export type ConnectionSource = "environment" | "keyring" | "file" | "none";

/**
 * How a connection is.
 */
export type ConnectionState = "works" | "locked" | "no_service" | "signed_out" | "failed";

/**
 * The connection.
 */
export type ConnectionStatus = { 
/**
 * The server.
 */
url?: string, 
/**
 * Where it comes from.
 */
source: ConnectionSource, 
/**
 * How it is.
 */
state: ConnectionState, 
/**
 * What is wrong, or what to know.
 */
message?: string, };

/**
 * What continuing a run means of which nothing is finished; the page has a text for each.
 */
export type ContinueNote = "with_answers" | "from_the_beginning";

/**
 * What continuing a run means.
 */
export type ContinuePreview = { 
/**
 * How many results are kept, and not made again.
 */
kept: number, 
/**
 * What they are, the first 20.
 */
keptTitles: Array<string>, 
/**
 * What a person is asked first, since it may have happened.
 */
asks: Array<string>, 
/**
 * What is done again, since it was not done.
 */
again: Array<string>, 
/**
 * What nothing finished means, when nothing is.
 */
note?: ContinueNote, };

/**
 * A text to copy.
 */
export type CopiedText = { 
/**
 * The text.
 */
text: string, };

/**
 * What a run is copied as.
 */
export type CopyForm = "command" | "mcp";

/**
 * How many runs there were on a day.
 */
export type DayCount = { 
/**
 * The day, `YYYY-MM-DD`, of this machine's time zone.
 */
day: string, 
/**
 * All.
 */
runs: number, 
/**
 * Those that failed or ran out of time.
 */
failed: number, };

/**
 * A line of a difference.
 */
export type DiffLine = { 
/**
 * What becomes of it.
 */
sign: " " | "+" | "-", 
/**
 * The line.
 */
text: string, 
/**
 * Its number before, from 1.
 */
oldLine?: number, 
/**
 * Its number after, from 1.
 */
newLine?: number, };

/**
 * A client with all that the Dock says of it.
 */
export type DockClient = { 
/**
 * The client's stable short name.
 */
id: string, 
/**
 * Its name for people.
 */
name: string, 
/**
 * Two letters for its tile.
 */
tile: string, 
/**
 * Whether it seems to be installed.
 */
found: boolean, 
/**
 * What it knows.
 */
state: DockState, 
/**
 * Its file.
 */
file?: string, 
/**
 * What is wrong with the file, or differs.
 */
detail?: string, 
/**
 * Whose files it has that we write; none when it is configured by hand.
 */
scopes: Array<DockScope>, 
/**
 * The ways to give it the server.
 */
forms: Array<DockForm>, 
/**
 * The client's own command.
 */
command?: string, 
/**
 * The link that opens the client.
 */
link?: string, 
/**
 * The piece of its file.
 */
snippet: Snippet, 
/**
 * Whether it can ask the person.
 */
asks: Ask, 
/**
 * Tools that it would lose or rename under this key.
 */
nameLosses: Array<NameLoss>, 
/**
 * Its limits and habits, in words.
 */
limits?: string, };

/**
 * A client and what it knows of a server.
 */
export type DockClientState = { 
/**
 * The client's stable short name.
 */
id: string, 
/**
 * Its name for people.
 */
name: string, 
/**
 * Two letters for its tile.
 */
tile: string, 
/**
 * Whether it seems to be installed.
 */
found: boolean, 
/**
 * What it knows.
 */
state: DockState, 
/**
 * Its file.
 */
file?: string, 
/**
 * What is wrong with the file, or differs.
 */
detail?: string, };

/**
 * A way to give a client the server.
 */
export type DockForm = "command" | "link" | "snippet";

/**
 * A change before it is made.
 */
export type DockPlan = { 
/**
 * The client.
 */
client: string, 
/**
 * The file that is written.
 */
file: string, 
/**
 * Where the copy of the text before will lie.
 */
backup?: string, 
/**
 * What is done.
 */
action: DockPlanAction, 
/**
 * The difference.
 */
diff: Array<DiffLine>, 
/**
 * Names exactly this change.
 */
fingerprint: string, };

/**
 * What a change does to a file.
 */
export type DockPlanAction = "create" | "add" | "replace" | "remove" | "nothing";

/**
 * For whom a client's file is.
 */
export type DockScope = "user" | "project";

/**
 * What a client knows of a server.
 */
export type DockState = "absent" | "in_step" | "differs" | "not_added";

/**
 * How a test went.
 */
export type DockTest = { 
/**
 * Whether all went well.
 */
ok: boolean, 
/**
 * The stages that were reached.
 */
stages: Array<TestStage>, 
/**
 * The tools.
 */
tools: Array<TestedTool>, 
/**
 * How long it took in all.
 */
totalMs: number, 
/**
 * The last of what it wrote to standard error.
 */
stderr?: string, 
/**
 * What to do next.
 */
hint?: string, 
/**
 * The command that was started.
 */
command: string, };

/**
 * How far a test has come.
 */
export type DockTested = { 
/**
 * Whether it is over.
 */
over: boolean, 
/**
 * What came of it until now.
 */
soFar: DockTest, };

/**
 * A test that was started.
 */
export type DockTesting = { 
/**
 * Its id.
 */
test: string, };

/**
 * A server's Dock.
 */
export type DockView = { 
/**
 * The server's id.
 */
server: string, 
/**
 * The project's key.
 */
project: string, 
/**
 * The key under which clients keep the server.
 */
key: string, 
/**
 * A shorter one, for clients with a limit on names.
 */
shortKey: string, 
/**
 * The executable.
 */
command: string, 
/**
 * Its arguments.
 */
args: Array<string>, 
/**
 * The general configuration, JSON.
 */
config: string, 
/**
 * Every client.
 */
clients: Array<DockClient>, 
/**
 * Why it cannot be served.
 */
whyNot?: string, };

/**
 * A change that was made.
 */
export type DockWritten = { 
/**
 * Names it, for taking it back while this window is open.
 */
id: string, 
/**
 * The file.
 */
file: string, 
/**
 * The copy of the text before.
 */
backup?: string, };

/**
 * Why an entrypoint is not served.
 */
export type EntrypointError = { 
/**
 * What is wrong and how to mend it.
 */
message: string, 
/**
 * The file.
 */
file?: string, 
/**
 * The line, from 1.
 */
line?: number, };

/**
 * An entrypoint of a project.
 */
export type EntrypointRow = { 
/**
 * Its id, which is the tool's name.
 */
id: string, 
/**
 * What a person sees.
 */
title: string, 
/**
 * What it does.
 */
description?: string, 
/**
 * Whether it is kept from clients.
 */
draft: boolean, 
/**
 * What it takes.
 */
params: Array<Param>, 
/**
 * How it is run.
 */
source: EntrypointSourceKind, 
/**
 * Whether the window can start it; what cannot be started here is started by an AI client.
 */
runnable: boolean, 
/**
 * The file it lies in.
 */
file?: string, 
/**
 * It changes nothing.
 */
readOnly?: boolean, 
/**
 * It may destroy.
 */
destructive?: boolean, 
/**
 * It reaches the world outside.
 */
openWorld?: boolean, 
/**
 * Its last 20 runs, the oldest first.
 */
recent: Array<RecentRun>, 
/**
 * Why it is not served.
 */
error?: EntrypointError, };

/**
 * How an entrypoint is run.
 */
export type EntrypointSourceKind = "script" | "command" | "orchestration" | "dynamic" | "guided";

/**
 * A variable that a project names. Values never cross the border.
 */
export type EnvironmentRow = { 
/**
 * Its name.
 */
name: string, 
/**
 * Whether it has a value.
 */
set: boolean, 
/**
 * Where from.
 */
source: EnvironmentSource, };

/**
 * Where a variable's value comes from.
 */
export type EnvironmentSource = ".env" | "process" | "missing";

/**
 * A run that was written into a file.
 */
export type Exported = { 
/**
 * The file.
 */
path: string, };

/**
 * One fault of an input.
 */
export type Fault = { 
/**
 * The parameter, with the place inside it; empty: the input as a whole.
 */
path: string, 
/**
 * What is wrong.
 */
message: string, };

/**
 * What a file is.
 */
export type FileKind = "text" | "image" | "other";

/**
 * Something that is wrong.
 */
export type Finding = { 
/**
 * Names the finding, for [`MendFinding`].
 */
id: string, 
/**
 * How much it matters.
 */
severity: Severity, 
/**
 * What is wrong.
 */
title: string, 
/**
 * Further facts.
 */
detail?: string, 
/**
 * How to mend it.
 */
hint?: string, 
/**
 * Whether we can mend it.
 */
mend?: MendLabel, };

/**
 * What is wrong with a project.
 */
export type Findings = { 
/**
 * All of it.
 */
findings: Array<Finding>, };

/**
 * A question to a person.
 */
export type Form = { 
/**
 * Its heading.
 */
title: string, 
/**
 * What the person should know.
 */
message?: string, 
/**
 * What is asked, in order.
 */
fields: Array<Param>, 
/**
 * The program that is asked about, for leave to run one.
 */
approval?: Approval, };

/**
 * Where a search found its words.
 */
export type FoundAt = { 
/**
 * The part.
 */
part: FoundIn, 
/**
 * A line of its text.
 */
text: string, 
/**
 * Where the word begins in it, in UTF-16 code units.
 */
start: number, 
/**
 * How long it is there.
 */
length: number, };

/**
 * Which part of a run a search found its words in.
 */
export type FoundIn = "log" | "error" | "input" | "output" | "answer" | "node" | "id" | "entrypoint";

/**
 * What the first view shows.
 */
export type Home = { 
/**
 * Runs that wait for a person, the oldest first, at most 100.
 */
waiting: Array<WaitingRow>, 
/**
 * Runs at work, the newest first, at most 50.
 */
running: Array<RunRow>, 
/**
 * Runs that ended last, at most 20.
 */
recent: Array<RunRow>, 
/**
 * Today's numbers.
 */
today: Today, 
/**
 * How many runs are kept, when counting them costs little.
 */
total?: number, 
/**
 * How many folders are registered.
 */
projects: number, 
/**
 * The place in the change feed that this answer is of.
 */
seq: number, };

/**
 * Whether a question asks for facts or for leave.
 */
export type InteractionKind = "form" | "approval";

/**
 * Where a key is kept.
 */
export type KeyStore = "keyring" | "file";

/**
 * What is missing in the middle of a long log.
 */
export type LeftOutLog = { 
/**
 * The first missing position.
 */
position: number, 
/**
 * How many are missing.
 */
entries: number, 
/**
 * Their bytes.
 */
bytes: number, };

/**
 * A line of a log.
 */
export type LogLine = { 
/**
 * Its place in the log.
 */
position: number, 
/**
 * Where it was written to.
 */
stream: LogStreamName, 
/**
 * When.
 */
at: number, 
/**
 * The text, without its line end.
 */
text: string, };

/**
 * A page of a log.
 */
export type LogPage = { 
/**
 * The lines.
 */
lines: Array<LogLine>, 
/**
 * Where to go on.
 */
next: number, 
/**
 * Where the log ends now.
 */
end: number, 
/**
 * What is missing, anywhere in the log.
 */
leftOut?: LeftOutLog, };

/**
 * Where a line of a log was written to.
 */
export type LogStreamName = "stdout" | "stderr" | "flow";

/**
 * What mending a finding is called.
 */
export type MendLabel = { 
/**
 * What is done.
 */
label: string, };

/**
 * A tool that a client would lose or rename.
 */
export type NameLoss = { 
/**
 * The tool.
 */
tool: string, 
/**
 * What happens to it: `dropped`, `cut`, `hashed`.
 */
effect: string, };

/**
 * What a node stands for.
 */
export type NodeKind = "phase" | "step" | "agent" | "form" | "command" | "related";

/**
 * Where a node stands.
 */
export type NodeStatus = "queued" | "running" | "waiting_for_input" | "success" | "failed" | "cancelled" | "skipped";

/**
 * What may notify the person.
 */
export type NotifySettings = { 
/**
 * A run waits for a person.
 */
waits: boolean, 
/**
 * A run failed.
 */
failed: boolean, 
/**
 * A run lost its process.
 */
interrupted: boolean, 
/**
 * A run ended well.
 */
finished: boolean, };

/**
 * Where a run was started.
 */
export type Origin = "mcp" | "desktop" | "cli" | "related";

/**
 * A parameter of an entrypoint, or a field of a form.
 */
export type Param = { 
/**
 * The key in the input.
 */
name: string, 
/**
 * Its type. `date`, `datetime` and `time` also stand for `string` with that `format`.
 */
type: ParamType, 
/**
 * Whether the caller must give it.
 */
required?: boolean, 
/**
 * Whether it is a list of that type. Always true for `checkboxes`.
 */
multiple?: boolean, 
/**
 * What is taken when nothing is given.
 */
default?: JsonValue, 
/**
 * A short name for a person.
 */
title?: string, 
/**
 * What it is for.
 */
description?: string, 
/**
 * The allowed values, if they are fixed. Empty: anything of the type.
 */
options?: Array<ParamOption>, 
/**
 * The smallest number allowed.
 */
minimum?: number, 
/**
 * The largest number allowed.
 */
maximum?: number, 
/**
 * The fewest characters allowed.
 */
minLength?: number, 
/**
 * The most characters allowed.
 */
maxLength?: number, 
/**
 * A regular expression that must match somewhere in the text.
 */
pattern?: string, 
/**
 * A further format of a `string` that is passed on as declared (`email`, `uri`); checked only where we say so.
 */
format?: string, };

/**
 * One of the values a parameter may have.
 */
export type ParamOption = { 
/**
 * The value itself: a text, or a number for number types.
 */
value: JsonValue, 
/**
 * What a person sees instead of the value.
 */
title?: string, 
/**
 * What a person should know who chooses it.
 */
description?: string, };

/**
 * The type of a parameter or form field.
 */
export type ParamType = "string" | "positional" | "select" | "number" | "integer" | "boolean" | "checkboxes" | "date" | "datetime" | "time" | "file" | "secret" | "json";

/**
 * How far a run has come.
 */
export type Progress = { 
/**
 * How many of its parts are done.
 */
done: number, 
/**
 * Of how many, if that is known.
 */
total?: number, };

/**
 * What was registered.
 */
export type ProjectAdded = { 
/**
 * The folder's row.
 */
projects: Array<ProjectRow>, 
/**
 * The ids of its servers that were found.
 */
added: Array<string>, };

/**
 * A project that was made.
 */
export type ProjectKey = { 
/**
 * Its key.
 */
project: string, };

/**
 * What a folder is registered as.
 */
export type ProjectKind = "workflow" | "guided" | "board" | "conversation" | "kanban" | "folder";

/**
 * A project, whole.
 */
export type ProjectOverview = { 
/**
 * Its row.
 */
project: ProjectRow, 
/**
 * What it says of itself.
 */
description?: string, 
/**
 * What it offers, what is broken last.
 */
entrypoints: Array<EntrypointRow>, 
/**
 * What works but will trouble somebody.
 */
warnings: Array<string>, 
/**
 * What is wrong.
 */
findings: Array<Finding>, 
/**
 * How many findings its board has, if it has one that can be read.
 */
boardFindings?: number, 
/**
 * Its related projects.
 */
relations: Array<RelationRow>, 
/**
 * What each client knows of it.
 */
clients: Array<DockClientState>, 
/**
 * Its last runs, the newest first.
 */
recent: Array<RunRow>, };

/**
 * A registered folder.
 */
export type ProjectRow = { 
/**
 * The first server's id.
 */
key: string, 
/**
 * What a person sees.
 */
title: string, 
/**
 * The folder.
 */
path: string, 
/**
 * Whether the folder is gone.
 */
missing: boolean, 
/**
 * Its servers.
 */
servers: Array<ServerRow>, 
/**
 * Runs that wait.
 */
waiting: number, 
/**
 * Runs that run, or are queued.
 */
running: number, 
/**
 * Whether something wants to be looked at.
 */
notice: boolean, 
/**
 * When it was added.
 */
addedAt: number, 
/**
 * When it was last used.
 */
usedAt: number, };

/**
 * A project's settings.
 */
export type ProjectSettings = { 
/**
 * How long its runs are kept.
 */
retention: Retention, 
/**
 * Programs that its runs may start unasked.
 */
allowExec: Array<string>, 
/**
 * Who starts its agents.
 */
provider?: string, 
/**
 * Its variables.
 */
environment: Array<EnvironmentRow>, 
/**
 * Whether its runs may notify.
 */
notifications: boolean, };

/**
 * How a provider starts agents.
 */
export type ProviderKind = "command" | "http" | "canned";

/**
 * Who can start agents.
 */
export type ProviderRow = { 
/**
 * Its name.
 */
name: string, 
/**
 * How it starts them.
 */
kind: ProviderKind, 
/**
 * Whether it is installed.
 */
installed: boolean, 
/**
 * What it needs.
 */
detail?: string, 
/**
 * Whether it is taken where nothing is said.
 */
isDefault: boolean, };

/**
 * A question to a person.
 */
export type Question = { 
/**
 * Its number in the run.
 */
number: number, 
/**
 * Whether it asks for facts or for leave.
 */
kind: InteractionKind, 
/**
 * What is asked.
 */
form: Form, 
/**
 * The related run that really asks.
 */
child?: string, 
/**
 * When it was asked.
 */
askedAt: number, 
/**
 * When the run is given up.
 */
expiresAt?: number, 
/**
 * What was answered.
 */
answer?: Answered, 
/**
 * Whether a person can decline to answer: whoever asks is told.
 */
canDecline?: boolean, 
/**
 * The program that is asked about.
 */
approval?: Approval, };

/**
 * A run in an entrypoint's strip.
 */
export type RecentRun = { 
/**
 * The run.
 */
runId: string, 
/**
 * Where it stands.
 */
status: RunStatus, 
/**
 * How long it took.
 */
durationMs?: number, 
/**
 * When it was recorded.
 */
at: number, };

/**
 * A related project.
 */
export type RelationRow = { 
/**
 * What this project calls it.
 */
alias: string, 
/**
 * The other project, when it is registered.
 */
other?: string, 
/**
 * Its title.
 */
otherTitle?: string, 
/**
 * Its folder.
 */
path?: string, 
/**
 * Whether it is confirmed here.
 */
here: boolean, 
/**
 * Whether it is confirmed there.
 */
there: boolean, };

/**
 * How long runs are kept; what is absent is not limited.
 */
export type Retention = { 
/**
 * Days.
 */
days?: number, 
/**
 * How many runs.
 */
runs?: number, 
/**
 * Megabytes.
 */
megabytes?: number, };

/**
 * A run, whole but for its output, nodes and log.
 */
export type RunDetail = { 
/**
 * What lists show of it.
 */
run: RunRow, 
/**
 * The project's folder, as it was.
 */
projectPath: string, 
/**
 * The project's UUID.
 */
projectUuid?: string, 
/**
 * The client's version.
 */
clientVersion?: string, 
/**
 * The protocol revision the client spoke.
 */
protocol?: string, 
/**
 * The input as it came.
 */
input: JsonValue, 
/**
 * The input as command line arguments.
 */
cliArgs: Array<string>, 
/**
 * What it asked, and what was answered.
 */
questions: Array<Question>, 
/**
 * Why it did not succeed.
 */
error?: RunErrorRow, 
/**
 * What it created.
 */
files: Array<RunFileRow>, 
/**
 * The runs it started, newest first.
 */
children: Array<string>, 
/**
 * Bytes of its records as they are stored.
 */
bytes: number, 
/**
 * Entries of its log.
 */
logLines: number, 
/**
 * How many nodes it has.
 */
nodes: number, 
/**
 * Bytes of its output.
 */
outputBytes: number, 
/**
 * Whether it can be continued here and now.
 */
canContinue: boolean, 
/**
 * Whether a living process has it in hand.
 */
ownerAlive: boolean, 
/**
 * Until when the client's call may still be open.
 */
callOpenUntil?: number, 
/**
 * When the client's call ended and left the run waiting, for one that waits.
 */
callEndedAt?: number, 
/**
 * Why it ended, where the client said so.
 */
clientAnswer?: ClientAnswer, };

/**
 * Why a run did not succeed.
 */
export type RunErrorRow = { 
/**
 * The stable code.
 */
code: string, 
/**
 * One sentence.
 */
message: string, 
/**
 * The project's own number.
 */
errCode?: number, 
/**
 * What lies behind it.
 */
cause?: string, 
/**
 * What the project gave beside it.
 */
data?: JsonValue, };

/**
 * A file that a run created.
 */
export type RunFileContent = { 
/**
 * What it is.
 */
kind: FileKind, 
/**
 * Its text, the first MiB.
 */
text?: string, 
/**
 * A picture of at most 8 MiB.
 */
base64?: string, 
/**
 * A picture's type.
 */
mime?: string, 
/**
 * Its size.
 */
bytes: number, 
/**
 * Whether it is only the beginning.
 */
truncated: boolean, };

/**
 * A file that a run created.
 */
export type RunFileRow = { 
/**
 * Its name.
 */
name: string, 
/**
 * Where it lies.
 */
path: string, 
/**
 * Its size.
 */
bytes: number, };

/**
 * Where a text stands in a log.
 */
export type RunLogHits = { 
/**
 * The first positions.
 */
positions: Array<number>, 
/**
 * How many lines have it.
 */
total: number, };

/**
 * A node of a run's report.
 */
export type RunNode = { 
/**
 * Unique in the run.
 */
id: number, 
/**
 * The node it lies in.
 */
parent?: number, 
/**
 * What it stands for.
 */
kind: NodeKind, 
/**
 * What a person sees.
 */
title: string, 
/**
 * Where it stands.
 */
status: NodeStatus, 
/**
 * When it started.
 */
startedAt?: number, 
/**
 * When it ended.
 */
finishedAt?: number, 
/**
 * Further facts.
 */
detail?: JsonValue, };

/**
 * A run's output.
 */
export type RunOutputContent = { 
/**
 * The output; of one over 4 MiB its beginning, as text.
 */
output: JsonValue, 
/**
 * Its size as compact JSON.
 */
bytes: number, 
/**
 * Whether it is only the beginning.
 */
truncated: boolean, };

/**
 * Which runs are wanted. Everything that is set must hold.
 */
export type RunQuery = { 
/**
 * Words that must stand in them.
 */
text?: string, 
/**
 * Any of these states.
 */
status?: Array<RunStatus>, 
/**
 * A project's id, or any server's of its folder.
 */
project?: string, 
/**
 * An entrypoint's id.
 */
entrypoint?: string, 
/**
 * A client's name.
 */
client?: string, 
/**
 * Where they were started.
 */
origin?: Origin, 
/**
 * Recorded at this moment or later.
 */
after?: number, 
/**
 * Recorded before this moment.
 */
before?: number, 
/**
 * Took longer.
 */
tookMoreMs?: number, 
/**
 * Took less.
 */
tookLessMs?: number, 
/**
 * Whether they are pinned.
 */
pinned?: boolean, };

/**
 * A run as lists show it.
 */
export type RunRow = { 
/**
 * Its id.
 */
runId: string, 
/**
 * The project's id, or its UUID where there is no registry.
 */
project: string, 
/**
 * The project's title.
 */
projectTitle: string, 
/**
 * Whether the project is registered now.
 */
registered: boolean, 
/**
 * The entrypoint.
 */
entrypointId: string, 
/**
 * Its title, as it was.
 */
entrypointTitle: string, 
/**
 * Where it stands.
 */
status: RunStatus, 
/**
 * Where it was started.
 */
origin: Origin, 
/**
 * The client's name.
 */
client?: string, 
/**
 * The run that started it.
 */
parent?: string, 
/**
 * The title of that run's entrypoint.
 */
parentTitle?: string, 
/**
 * When it was recorded.
 */
createdAt: number, 
/**
 * When it first ran.
 */
startedAt?: number, 
/**
 * When it ended.
 */
finishedAt?: number, 
/**
 * How long it took.
 */
durationMs?: number, 
/**
 * Why it was cancelled.
 */
cancelReason?: string, 
/**
 * Whether it is kept whatever is pruned.
 */
pinned: boolean, 
/**
 * The stretches of its life.
 */
stages: Array<Stage>, 
/**
 * What it is at, for a run that has not ended.
 */
phase?: string, 
/**
 * The last step, program, agent or related run that it is at.
 */
step?: string, 
/**
 * How far it has come, for a run that has not ended.
 */
progress?: Progress, 
/**
 * Why it failed, one line.
 */
error?: string, 
/**
 * Where a search found its words.
 */
found?: FoundAt, };

/**
 * Where a run stands. Everything that changes a run goes through [`RunStatus::check_transition`].
 */
export type RunStatus = "queued" | "running" | "waiting_for_input" | "interrupted" | "success" | "failed" | "cancelled" | "timeout";

/**
 * Runs and bytes.
 */
export type RunsAndBytes = { 
/**
 * How many runs.
 */
runs: number, 
/**
 * Bytes of their records.
 */
bytes: number, };

/**
 * A page of runs.
 */
export type RunsPage = { 
/**
 * The runs, newest first.
 */
rows: Array<RunRow>, 
/**
 * Where the next page begins, if there may be one.
 */
next?: string, 
/**
 * How many there are in all, when counting them costs little.
 */
total?: number, 
/**
 * `false`: enough was looked at before the page was full; go on from `next`.
 */
complete: boolean, };

/**
 * The sample project.
 */
export type SamplePlace = { 
/**
 * Where it is, or will be written.
 */
path: string, 
/**
 * Its key, once it is registered.
 */
project?: string, };

/**
 * Which part of a run is saved.
 */
export type SavePart = "run" | "output" | "log" | "file";

/**
 * One server of a folder.
 */
export type ServerRow = { 
/**
 * What `--workflow-mcp` takes.
 */
id: string, 
/**
 * What it is.
 */
kind: ProjectKind, 
/**
 * The project's own UUID.
 */
uuid?: string, 
/**
 * Whether clients can start it.
 */
served: boolean, 
/**
 * Why not.
 */
whyNot?: string, };

/**
 * How much a finding matters.
 */
export type Severity = "error" | "warning" | "note";

/**
 * A piece of a client's file.
 */
export type Snippet = { 
/**
 * Its notation.
 */
language: SnippetLanguage, 
/**
 * The text.
 */
text: string, };

/**
 * The notation of a client's file.
 */
export type SnippetLanguage = "json" | "toml" | "jsonc" | "yaml";

/**
 * One stretch of a run's life.
 */
export type Stage = { 
/**
 * Where the run stood.
 */
status: RunStatus, 
/**
 * Since when.
 */
at: number, 
/**
 * Until when; absent: still.
 */
until?: number, };

/**
 * A stage of the test.
 */
export type StageName = "start" | "initialize" | "tools";

/**
 * A run that was started.
 */
export type StartedRun = { 
/**
 * Its id.
 */
run: string, };

/**
 * What is kept in all.
 */
export type Storage = { 
/**
 * The database.
 */
file: string, 
/**
 * Its size on the disk, with its log.
 */
bytes: number, 
/**
 * By project.
 */
rows: Array<StorageRow>, };

/**
 * What a project keeps.
 */
export type StorageRow = { 
/**
 * The project's id, or its UUID where it is not registered.
 */
project: string, 
/**
 * Its title.
 */
title: string, 
/**
 * How many runs.
 */
runs: number, 
/**
 * Bytes of their records.
 */
bytes: number, 
/**
 * What its settings would let go.
 */
prunable: RunsAndBytes, };

/**
 * What has changed since a place in the change feed.
 */
export type StoreChanged = { 
/**
 * The place in the feed now.
 */
seq: number, 
/**
 * Runs with changes.
 */
runs: Array<string>, 
/**
 * Projects with changes, of their own or of their runs' states.
 */
projects: Array<string>, 
/**
 * Everything may have changed.
 */
all: boolean, };

/**
 * How a stage went.
 */
export type TestStage = { 
/**
 * Which one.
 */
name: StageName, 
/**
 * How long it took.
 */
ms?: number, 
/**
 * Whether it went well.
 */
ok: boolean, 
/**
 * What came, or what was wrong.
 */
detail?: string, };

/**
 * A tool that the tested server offers.
 */
export type TestedTool = { 
/**
 * Its name.
 */
name: string, 
/**
 * What a person sees.
 */
title?: string, 
/**
 * What it does.
 */
description?: string, 
/**
 * What it takes.
 */
params: Array<string>, };

/**
 * Today's numbers.
 */
export type Today = { 
/**
 * Runs recorded today.
 */
runs: number, 
/**
 * Those of them that failed.
 */
failed: number, 
/**
 * Runs that wait now.
 */
waiting: number, 
/**
 * Runs that run now, or are queued.
 */
running: number, 
/**
 * Runs of today that were interrupted, and are still.
 */
interrupted: number, 
/**
 * Half of today's runs that have ended, the last 500 at most, took less than this.
 */
medianMs?: number, };

/**
 * A run that waits for a person.
 */
export type WaitingRow = { 
/**
 * The run.
 */
run: RunRow, 
/**
 * Its first open question: the heading alone, without fields, of a command the beginning.
 */
question: Question, 
/**
 * Until when the client's call may still be open.
 */
callOpenUntil?: number, };

/** Every command: its request and its answer. */
export interface Commands {
  app_info: [{}, AppInfo];
  set_settings: [{ settings: Partial<AppSettings>, }, AppSettings];
  home: [{}, Home];
  projects: [{}, Array<ProjectRow>];
  project_overview: [{ project: string, }, ProjectOverview];
  project_add: [{ path: string, kind?: ProjectKind, }, ProjectAdded];
  project_make: [{ path: string, }, ProjectAdded];
  project_sample: [{}, SamplePlace];
  project_add_sample: [{}, ProjectKey];
  project_remove: [{ project: string, purge?: boolean, }, {}];
  project_settings: [{ project: string, }, ProjectSettings];
  set_project_settings: [{ project: string, retention?: Retention, allowExec?: Array<string>, provider?: string | null, notifications?: boolean, }, ProjectSettings];
  relate: [{ project: string, alias: string, other: string, }, {}];
  unrelate: [{ project: string, alias: string, }, {}];
  mend_finding: [{ project: string, finding: string, }, Findings];
  runs: [{ query: RunQuery, after?: string, limit?: number, }, RunsPage];
  runs_per_day: [{ query: RunQuery, days: number, }, Array<DayCount>];
  run: [{ run: string, }, RunDetail];
  run_row: [{ runs: Array<string>, }, Array<RunRow>];
  run_output: [{ run: string, path?: string, }, RunOutputContent];
  run_nodes: [{ run: string, }, Array<RunNode>];
  run_logs: [{ run: string, from: number, limit: number, stream?: LogStreamName, }, LogPage];
  run_log_search: [{ run: string, text: string, case?: boolean, regex?: boolean, stream?: LogStreamName, limit?: number, }, RunLogHits];
  run_file: [{ run: string, name: string, }, RunFileContent];
  check_input: [{ project: string, entrypoint: string, input: JsonValue, }, CheckedInput];
  start_run: [{ project: string, entrypoint: string, input: JsonValue, }, StartedRun];
  answer: [{ run: string, question: number, action: AnswerAction, content?: JsonValue, always?: boolean, }, {}];
  continue_preview: [{ run: string, }, ContinuePreview];
  continue_run: [{ run: string, }, {}];
  cancel_run: [{ run: string, }, {}];
  pin_run: [{ run: string, pinned: boolean, }, {}];
  delete_run: [{ run: string, }, {}];
  export_run: [{ run: string, to?: string, }, Exported];
  save_as: [{ run: string, part: SavePart, name?: string, stream?: LogStreamName, to: string, replace?: boolean, }, Exported];
  copy_as: [{ run: string, form: CopyForm, }, CopiedText];
  dock: [{ server: string, key?: string, }, DockView];
  dock_plan: [{ server: string, client: string, scope?: DockScope, key?: string, remove?: boolean, }, DockPlan];
  dock_write: [{ server: string, client: string, scope?: DockScope, key?: string, remove?: boolean, fingerprint: string, }, DockWritten];
  dock_undo: [{ id: string, }, {}];
  dock_test: [{ server: string, }, DockTesting];
  dock_tested: [{ test: string, seen: number, }, DockTested];
  connection: [{}, ConnectionStatus];
  connection_login: [{ url: string, key: string, store: KeyStore, }, ConnectionStatus];
  connection_logout: [{}, ConnectionStatus];
  providers: [{}, Array<ProviderRow>];
  storage: [{}, Storage];
  prune: [{ project?: string, }, RunsAndBytes];
  board_view: [{ project: string, }, BoardView];
  board_card: [{ project: string, id: string, }, BoardCardDetail];
  board_refusals: [{ project: string, id: string, }, Array<BoardRefusal>];
  board_call: [{ project: string, tool: string, arguments: JsonValue, }, BoardAnswer];
  board_mend: [{ project: string, code: string, }, BoardMended];
  board_acceptance: [{ project: string, id: string, line: number, done: boolean, revision: string, }, BoardCardDetail];
  changes_since: [{ seq: number, }, StoreChanged];
}
