-- A job that has used up its crashes beside others runs once more, with a worker for itself.
ALTER TABLE holdfast.job ADD COLUMN alone boolean NOT NULL DEFAULT false;

-- Hardly ever is there a row in either of them, so they cost a claim next to nothing.
CREATE INDEX job_claim_alone ON holdfast.job (queue, priority, run_at, id)
  WHERE state = 'PENDING' AND alone;
CREATE INDEX job_running_alone ON holdfast.job (worker_id)
  WHERE state = 'RUNNING' AND alone;

-- What else a worker lost when it lost a job.
CREATE INDEX attempt_crashed ON holdfast.attempt (worker_id)
  WHERE outcome = 'CRASHED';

-- Which kinds the live workers of a queue have handlers for, as they say now and then.
CREATE TABLE holdfast.known_kind (
  queue   text        NOT NULL,
  kind    text        NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (queue, kind)
) WITH (fillfactor = 50);
