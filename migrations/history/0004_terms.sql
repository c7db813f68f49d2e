-- The words of `run_text`, in order: which ones begin with what somebody has typed so far. A view on its index, which
-- keeps nothing of its own.
CREATE VIRTUAL TABLE run_terms USING fts5vocab (run_text, instance);
