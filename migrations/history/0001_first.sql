-- The registry and the history of runs. Applied once, in one transaction, and never edited after a release:
-- what changes comes as the next file, which only adds.

-- One row: the number of the last applied file, and the lowest schema number a writer must know to be let in.
CREATE TABLE meta (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    schema     INTEGER NOT NULL,
    min_writer INTEGER NOT NULL,
    -- Grows when an earlier commit is made safe against a loss of power and nothing else is to be written.
    synced     INTEGER NOT NULL DEFAULT 0,
    -- When a process last pruned, milliseconds since 1970.
    pruned_at  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- ---- registry ----------------------------------------------------------------------------------------------

CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    uuid       TEXT,
    path       TEXT NOT NULL,
    title      TEXT NOT NULL,
    added_at   INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    settings   TEXT NOT NULL DEFAULT '{}',
    removed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX projects_by_place ON projects (path, kind);
CREATE INDEX projects_by_uuid ON projects (uuid, kind) WHERE uuid IS NOT NULL;
CREATE INDEX projects_listed ON projects (used_at, id) WHERE removed_at IS NULL;

-- What one side says of a related project. It holds when the other side says the same of this one.
CREATE TABLE relations (
    project      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    alias        TEXT NOT NULL,
    other        TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    confirmed_at INTEGER NOT NULL,
    PRIMARY KEY (project, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_by_other ON relations (other, project);

-- ---- runs --------------------------------------------------------------------------------------------------

-- Only what lists need; everything long lies in `bodies`.
CREATE TABLE runs (
    key              INTEGER PRIMARY KEY,
    run_id           TEXT NOT NULL UNIQUE,
    -- What the run is listed under: the registry's id, or the project's UUID where there is no registry.
    project          TEXT NOT NULL,
    registered       INTEGER NOT NULL CHECK (registered IN (0, 1)),
    entrypoint       TEXT NOT NULL,
    entrypoint_title TEXT NOT NULL,
    status           TEXT NOT NULL,
    origin           TEXT NOT NULL,
    client           TEXT,
    parent           TEXT,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    finished_at      INTEGER,
    cancel_reason    TEXT,
    cancel_requested TEXT,
    pinned           INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    epoch            INTEGER NOT NULL DEFAULT 1,
    owner_pid        INTEGER,
    owner_start      INTEGER,
    owner_boot       TEXT,
    -- Whether anything sealed is kept, to be deleted when the run ends.
    sealed           INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
    -- Bytes of bodies, journal and logs as stored; what retention by size counts.
    bytes            INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_time ON runs (created_at);
CREATE INDEX runs_by_status ON runs (status, created_at);
CREATE INDEX runs_by_project ON runs (project, created_at);
CREATE INDEX runs_by_project_status ON runs (project, status, created_at);
CREATE INDEX runs_by_project_entrypoint ON runs (project, entrypoint, created_at);
CREATE INDEX runs_by_entrypoint ON runs (entrypoint, created_at);
CREATE INDEX runs_by_origin ON runs (origin, created_at);
CREATE INDEX runs_by_client ON runs (client, created_at) WHERE client IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (parent, created_at) WHERE parent IS NOT NULL;

-- How much each project keeps, so that retention need not count.
CREATE TABLE usage (
    project TEXT PRIMARY KEY,
    runs    INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `encoding`: 0 as it is, 1 zstd, 2 sealed, 3 zstd and then sealed.
CREATE TABLE bodies (
    run      INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    kind     TEXT NOT NULL,
    encoding INTEGER NOT NULL,
    data     BLOB NOT NULL,
    PRIMARY KEY (run, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE stages (
    run    INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    n      INTEGER NOT NULL,
    status TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
    run         INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    id          INTEGER NOT NULL,
    place       INTEGER NOT NULL,
    parent      INTEGER,
    kind        TEXT NOT NULL,
    title       TEXT NOT NULL,
    status      TEXT NOT NULL,
    started_at  INTEGER,
    finished_at INTEGER,
    detail      TEXT,
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    run         INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    n           INTEGER NOT NULL,
    epoch       INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    seq         INTEGER,
    fingerprint TEXT,
    at          INTEGER NOT NULL,
    encoding    INTEGER NOT NULL,
    -- Absent when it was sealed and the run has ended.
    payload     BLOB,
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- A question is answered once: `answered_at` is set by whoever is first.
CREATE TABLE interactions (
    run         INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    question    INTEGER NOT NULL,
    seq         INTEGER,
    kind        TEXT NOT NULL,
    form        TEXT NOT NULL,
    child       TEXT,
    asked_at    INTEGER NOT NULL,
    expires_at  INTEGER,
    action      TEXT,
    -- The values, secrets masked.
    content     TEXT,
    -- The values as they are, when secrets are among them; deleted when the run ends.
    sealed      BLOB,
    answered_by TEXT,
    answered_at INTEGER,
    PRIMARY KEY (run, question)
) STRICT, WITHOUT ROWID;

-- Standard output and error in order. A chunk holds entries `first` to `first + count - 1`.
CREATE TABLE log_chunks (
    run      INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    first    INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    -- Bytes of text, before compression.
    bytes    INTEGER NOT NULL,
    -- 1: has standard output, 2: has standard error.
    streams  INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    data     BLOB NOT NULL,
    PRIMARY KEY (run, first)
) STRICT;

CREATE TABLE log_totals (
    run             INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
    entries         INTEGER NOT NULL,
    head_bytes      INTEGER NOT NULL,
    tail_bytes      INTEGER NOT NULL,
    -- First entry of the tail, once the head is full.
    tail_first      INTEGER,
    dropped_entries INTEGER NOT NULL,
    dropped_bytes   INTEGER NOT NULL,
    -- What is searchable: so many bytes in so many parts, and no entry from this one on.
    indexed_bytes   INTEGER NOT NULL,
    indexed_until   INTEGER NOT NULL,
    parts           INTEGER NOT NULL
) STRICT;

-- Code kept with runs, each text once.
CREATE TABLE sources (
    sha256   TEXT PRIMARY KEY,
    encoding INTEGER NOT NULL,
    data     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run_sources (
    run    INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES sources (sha256),
    PRIMARY KEY (run, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_sources_by_text ON run_sources (sha256);

-- Text of runs for searching; keeps no text of its own. The row id is `run * 65536 + part`, so that the newest run
-- comes first when read backwards.
CREATE VIRTUAL TABLE run_text USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);

-- What changed, for whoever watches. Trimmed as it grows, at its old end only, so that ids never come back.
CREATE TABLE changes (
    id      INTEGER PRIMARY KEY,
    run     TEXT,
    project TEXT,
    what    TEXT NOT NULL
) STRICT;
