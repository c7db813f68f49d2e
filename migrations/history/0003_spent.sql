-- How long a run has worked, waiting for people left out, so that one that is taken up again has only the rest of its
-- time.
ALTER TABLE runs ADD COLUMN spent_ms INTEGER NOT NULL DEFAULT 0;
