-- The queue. State lives in one row a job; what happened besides lies in attempt and event.

-- What one column may hold is said by its type: it is then checked when the column is written, and
-- not with every update of its row.
CREATE DOMAIN holdfast.job_priority AS smallint CHECK (VALUE BETWEEN 0 AND 9);
CREATE DOMAIN holdfast.percent AS smallint CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN holdfast.counter AS integer CHECK (VALUE >= 0);
CREATE DOMAIN holdfast.failure_policy AS text CHECK (VALUE IN ('CANCEL', 'FAIL', 'RUN'));
CREATE DOMAIN holdfast.job_state AS text CHECK (VALUE IN
  ('WAITING', 'PENDING', 'RUNNING', 'RETRYING', 'SUCCEEDED', 'FAILED', 'CANCELLED'));

CREATE TABLE holdfast.job (
  -- What has a fixed width and is always there comes first: PostgreSQL then knows where it is.
  id                   uuid        PRIMARY KEY,
  run_at               timestamptz NOT NULL,
  created_at           timestamptz NOT NULL,
  run_id               uuid        NOT NULL,

  -- The fence. Every claim raises it; nothing ever lowers it.
  attempt              integer     NOT NULL DEFAULT 0,
  failures             holdfast.counter NOT NULL DEFAULT 0,
  crashes              holdfast.counter NOT NULL DEFAULT 0,
  max_attempts         holdfast.counter NOT NULL,
  max_crashes          holdfast.counter NOT NULL,

  -- How many events the timeline has, and which of them is this attempt's 'processing'.
  events               integer     NOT NULL DEFAULT 1,
  priority             holdfast.job_priority NOT NULL,
  -- The states, as bits, in which unique_key is held; 0 once it was given up.
  unique_states        smallint    NOT NULL DEFAULT 0,

  state                holdfast.job_state NOT NULL,
  queue                text        NOT NULL,
  kind                 text        NOT NULL,
  tenant               text        NOT NULL,
  workspace            text        NOT NULL,
  run_key              text        NOT NULL,
  payload              jsonb       NOT NULL,

  -- The lease. No index may name heartbeat_at or lease_expires_at: a heartbeat
  -- is then a HOT update, which touches one page and no index.
  started_event        integer,
  started_at           timestamptz,
  heartbeat_at         timestamptz,
  lease_expires_at     timestamptz,
  worker_id            text,
  finished_at          timestamptz,
  result               jsonb,
  failure              jsonb,

  progress             holdfast.percent,
  progress_message     text,
  timeout_ms           bigint,
  deadline             timestamptz,
  cancel_requested_at  timestamptz,
  cancel_deadline      timestamptz,
  cancel_reason        text,

  unique_key           text,
  unique_until         timestamptz,
  concurrency_key      text,
  concurrency_limit    integer,

  parent_id            uuid,
  -- What becomes of a job that waits for others when one of them fails.
  when_dependency_fails holdfast.failure_policy,

  -- Each of these costs every statement that writes a job, however few, as much as two rows do:
  -- it is read from its text anew. What only one verb could get wrong is left to that verb.
  CONSTRAINT job_running_is_leased CHECK ((state = 'RUNNING') = (lease_expires_at IS NOT NULL)),
  CONSTRAINT job_terminal_is_finished CHECK (
    (state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')) = (finished_at IS NOT NULL))
) WITH (fillfactor = 90); -- Room for heartbeats: in a full page one cannot be HOT.

-- Only claimable rows are in the claim indexes, so finished jobs cost a claim nothing.
-- Jobs with a concurrency key lie apart: a thousand of them behind a full key must
-- not stand in the way of those that can run.
CREATE INDEX job_claim ON holdfast.job (queue, priority, run_at, id)
  WHERE state = 'PENDING' AND concurrency_key IS NULL;
CREATE INDEX job_claim_keyed ON holdfast.job (queue, concurrency_key, priority, run_at, id)
  WHERE state = 'PENDING' AND concurrency_key IS NOT NULL;
CREATE INDEX job_waiting ON holdfast.job (queue)
  WHERE state = 'WAITING';
-- By the time they began, so that each new entry comes last, which is the cheapest place for it.
CREATE INDEX job_running ON holdfast.job (queue, started_at, concurrency_key)
  WHERE state = 'RUNNING';
CREATE INDEX job_retrying ON holdfast.job (queue, run_at)
  WHERE state = 'RETRYING';
CREATE INDEX job_cancelling ON holdfast.job (worker_id)
  WHERE state = 'RUNNING' AND cancel_requested_at IS NOT NULL;
CREATE INDEX job_deadline ON holdfast.job (deadline)
  WHERE deadline IS NOT NULL AND finished_at IS NULL;
CREATE INDEX job_failed ON holdfast.job (id)
  WHERE state = 'FAILED';
CREATE INDEX job_parent ON holdfast.job (parent_id)
  WHERE parent_id IS NOT NULL;
CREATE INDEX job_run ON holdfast.job (run_id)
  WHERE run_id <> id;
-- Rows finish in about the order they lie in, which is all a BRIN index asks for.
CREATE INDEX job_finished ON holdfast.job USING brin (finished_at) WITH (autosummarize = on);
CREATE UNIQUE INDEX job_unique ON holdfast.job (tenant, kind, unique_key)
  WHERE unique_states > 0;

-- The states that still hold a unique key after a job became next: all or none.
CREATE FUNCTION holdfast.unique_after(states smallint, next text) RETURNS smallint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN states = 0 OR states & CASE next
      WHEN 'WAITING' THEN 1 WHEN 'PENDING' THEN 2 WHEN 'RUNNING' THEN 4 WHEN 'RETRYING' THEN 8
      WHEN 'SUCCEEDED' THEN 16 WHEN 'FAILED' THEN 32 WHEN 'CANCELLED' THEN 64 END <> 0
    THEN states ELSE 0::smallint END;

-- Attempts that did not succeed. The one that runs, or succeeded, is read from its job.
CREATE TABLE holdfast.attempt (
  job_id        uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  attempt       integer     NOT NULL,
  outcome       text        NOT NULL,
  worker_id     text        NOT NULL,
  started_at    timestamptz NOT NULL,
  ended_at      timestamptz NOT NULL,
  started_event integer     NOT NULL,
  failure       jsonb,
  PRIMARY KEY (job_id, attempt),
  CONSTRAINT attempt_outcome_known CHECK (outcome IN
    ('FAILED', 'CRASHED', 'RELEASED', 'SNOOZED', 'CANCELLED'))
);

-- Events besides 'created', 'processing' and 'done', which are read from job and attempt.
CREATE TABLE holdfast.event (
  job_id  uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  number  integer     NOT NULL,
  type    text        NOT NULL,
  attempt integer     NOT NULL,
  at      timestamptz NOT NULL,
  data    jsonb       NOT NULL,
  PRIMARY KEY (job_id, number)
);

-- Which jobs a job waits for. No lock that would hold up those jobs is taken to say so.
CREATE TABLE holdfast.dependency (
  job_id    uuid NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  on_job_id uuid NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  PRIMARY KEY (job_id, on_job_id),
  CONSTRAINT dependency_not_on_itself CHECK (job_id <> on_job_id)
);
CREATE INDEX dependency_on ON holdfast.dependency (on_job_id);

-- Jobs that are enqueued again and again.
CREATE TABLE holdfast.schedule (
  name         text        PRIMARY KEY,
  cron         text        NOT NULL,
  zone         text        NOT NULL,
  missed       text        NOT NULL,
  overlap      boolean     NOT NULL,
  queue        text        NOT NULL,
  kind         text        NOT NULL,
  priority     smallint    NOT NULL,
  max_attempts integer     NOT NULL,
  max_crashes  integer     NOT NULL,
  timeout_ms   bigint,
  payload      jsonb       NOT NULL,
  next_at      timestamptz NOT NULL,
  last_at      timestamptz,
  paused_at    timestamptz,
  CONSTRAINT schedule_missed_known CHECK (missed IN ('ONCE', 'SKIP', 'ALL'))
);

-- Settings of queues that have any. A queue needs no row to exist.
CREATE TABLE holdfast.queue (
  name        text        PRIMARY KEY,
  paused_at   timestamptz,
  max_running integer,
  -- A bucket of tokens: rate_limit of them per rate_span_ms, one for each job that starts.
  rate_limit   integer,
  rate_span_ms bigint,
  tokens       double precision,
  tokens_at    timestamptz,
  CONSTRAINT queue_rate_sane CHECK (
    rate_limit >= 1 AND rate_span_ms >= 1 OR rate_limit IS NULL AND rate_span_ms IS NULL),
  CONSTRAINT queue_max_running_sane CHECK (max_running >= 1)
);
