-- What calls of runs have written, so that one that is made again, since its process died before it knew, gets its first
-- answer and does not count twice. `call` names a run, a call of it and its arguments. The oldest rows go.
CREATE TABLE calls (
    key     INTEGER PRIMARY KEY,
    call    TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL
) STRICT;
