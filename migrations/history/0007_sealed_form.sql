-- The form as it was asked, when secrets are in it, sealed: an answer by a masked option or default means the true one.
-- Deleted when the run ends, as sealed answers are.
ALTER TABLE interactions ADD COLUMN sealed_form BLOB;
