-- Why the tasks of a queue do not reach the worker they are pushed to; null while they do.
-- Servers write it, so that everybody who looks at the database sees it.
ALTER TABLE holdfast.queue
  ADD COLUMN dispatch_trouble text,
  ADD COLUMN dispatch_trouble_cause text,
  ADD COLUMN dispatch_paused boolean,
  ADD COLUMN dispatch_trouble_since timestamptz,
  ADD CONSTRAINT queue_dispatch_trouble_whole CHECK (
    (dispatch_trouble IS NULL) = (dispatch_trouble_cause IS NULL)
    AND (dispatch_trouble IS NULL) = (dispatch_paused IS NULL)
    AND (dispatch_trouble IS NULL) = (dispatch_trouble_since IS NULL)
    AND (dispatch_trouble IS NULL OR dispatch_url IS NOT NULL)),
  ADD CONSTRAINT queue_dispatch_trouble_known CHECK (dispatch_trouble IN
    ('UNREACHABLE', 'FAILING', 'SECRET_REFUSED', 'NOT_ALLOWED'));
