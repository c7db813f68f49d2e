-- What the window asks for: pinned runs by time, and settings of its own.

CREATE INDEX runs_by_pinned ON runs (created_at) WHERE pinned = 1;

-- The window's settings; each value is JSON.
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
