-- What workflows keep between runs. Applied once, in one transaction, and never edited after a release:
-- what changes comes as the next file, which only adds.

CREATE TABLE meta (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    schema     INTEGER NOT NULL,
    min_writer INTEGER NOT NULL,
    -- Grows when an earlier commit is made safe against a loss of power and nothing else is to be written.
    synced     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE kv (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- PersistentValues. `version` grows by one with each write; 0 is a value that is not there.
CREATE TABLE persistent_values (
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    version INTEGER NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE knowledge (
    key      INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,
    id       TEXT NOT NULL,
    title    TEXT,
    text     TEXT NOT NULL,
    tags     TEXT NOT NULL DEFAULT '[]',
    added_at INTEGER NOT NULL,
    UNIQUE (project, id)
) STRICT;
CREATE INDEX knowledge_by_time ON knowledge (project, added_at);

-- Keeps no text of its own: what is written here has its CJK characters set apart, which the texts above have not.
CREATE VIRTUAL TABLE knowledge_text USING fts5 (
    title, text, tags, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
);
