-- Up to when the clock was believed, and since when it has said a time far after that: a clock that jumps ahead must not
-- end what waits or delete what is kept, before somebody had time to put it right.
ALTER TABLE meta ADD COLUMN believed_at INTEGER;
ALTER TABLE meta ADD COLUMN doubted_at INTEGER;
