-- Steps of jobs: where each stands, and what it left for those who go on from there.

CREATE TABLE holdfast.step (
  job_id      uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  step_id     text        NOT NULL,
  step_index  integer     NOT NULL,
  state       text        NOT NULL,
  -- How often it was begun, on whatever worker; and by which attempt of the job last.
  attempt     integer     NOT NULL,
  job_attempt integer     NOT NULL,
  resets      holdfast.counter NOT NULL DEFAULT 0,
  checkpoint  jsonb,
  patch       bytea,
  started_at  timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (job_id, step_id),
  CONSTRAINT step_state_known CHECK (state IN ('RUNNING', 'DONE', 'FAILED', 'INTERRUPTED'))
);

-- What operators have asked of jobs. A row lasts as long as something is asked.
CREATE TABLE holdfast.control (
  job_id       uuid        PRIMARY KEY REFERENCES holdfast.job ON DELETE CASCADE,
  paused       boolean     NOT NULL DEFAULT false,
  takeover     boolean     NOT NULL DEFAULT false,
  -- A step to be done again, once.
  action       text,
  step_id      text,
  requested_by text,
  reason       text,
  requested_at timestamptz,
  CONSTRAINT control_whole CHECK (
    (action IS NULL) = (step_id IS NULL) AND (action IS NULL) = (requested_at IS NULL)),
  CONSTRAINT control_asks CHECK (paused OR takeover OR action IS NOT NULL)
);
