-- How much of what a run tells is in its log: that much is not told again when the run is taken up.
ALTER TABLE runs ADD COLUMN narrated INTEGER;

-- Nothing goes on in a run that has ended; runs that were cancelled while they waited had left that open.
UPDATE nodes SET status = 'cancelled',
    finished_at = (SELECT runs.finished_at FROM runs WHERE runs.key = nodes.run)
WHERE status IN ('queued', 'running', 'waiting_for_input')
    AND run IN (SELECT key FROM runs WHERE status IN ('success', 'failed', 'cancelled', 'timeout'));
