-- How far a run says it has come (`{done, total?}`), and how a client's call ended that had left its run waiting.
ALTER TABLE runs ADD COLUMN progress TEXT;
ALTER TABLE runs ADD COLUMN parked TEXT;
ALTER TABLE runs ADD COLUMN parked_at INTEGER;
