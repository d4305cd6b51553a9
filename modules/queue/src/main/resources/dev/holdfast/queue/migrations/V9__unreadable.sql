-- Payloads that could not be read, which would have stopped every claim of their queue: taken out of
-- their jobs, which have failed, and kept. NULL where the server could not even copy one.
CREATE TABLE holdfast.unreadable (
  job_id   uuid        PRIMARY KEY REFERENCES holdfast.job ON DELETE CASCADE,
  payload  jsonb,
  found_at timestamptz NOT NULL
);

-- A schedule that says nothing of attempts leaves them to whoever enqueues its job.
ALTER TABLE holdfast.schedule ALTER COLUMN max_attempts DROP NOT NULL;
