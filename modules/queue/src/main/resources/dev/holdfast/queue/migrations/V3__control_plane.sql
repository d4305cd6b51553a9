-- What the server needs besides the queue: who may come in, what was answered before, where to push.

-- How an attempt ended, as its worker told it over HTTP. The same completion sent again is answered
-- the same; another one is refused.
CREATE TABLE holdfast.completion (
  job_id       uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  attempt      integer     NOT NULL,
  outcome      text        NOT NULL,
  final_state  text        NOT NULL,
  digest       text        NOT NULL,
  worker_id    text        NOT NULL,
  completed_at timestamptz,
  received_at  timestamptz NOT NULL,
  metrics      jsonb,
  partial_progress       jsonb,
  cancelled_during_phase text,
  PRIMARY KEY (job_id, attempt),
  CONSTRAINT completion_outcome_known CHECK (outcome IN ('SUCCEEDED', 'FAILED', 'CANCELLED'))
);

-- A key is kept as a digest: who reads this table cannot come in with what stands there.
CREATE TABLE holdfast.api_key (
  id         text        PRIMARY KEY,
  name       text        NOT NULL,
  role       text        NOT NULL,
  -- '*' is every tenant.
  tenant     text        NOT NULL,
  digest     text        NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT api_key_role_known CHECK (role IN ('viewer', 'submitter', 'worker', 'operator', 'admin'))
);

-- What task tokens are signed with: the newest signs, those before it are still believed.
CREATE TABLE holdfast.signing_key (
  kid        text        PRIMARY KEY,
  secret     text        NOT NULL,
  created_at timestamptz NOT NULL,
  retired_at timestamptz
);

-- A submission sent again under its key is answered as it was the first time.
CREATE TABLE holdfast.submission (
  tenant       text        NOT NULL,
  key          text        NOT NULL,
  digest       text        NOT NULL,
  answer       jsonb,
  submitted_at timestamptz NOT NULL,
  PRIMARY KEY (tenant, key)
);
CREATE INDEX submission_old ON holdfast.submission (submitted_at);

-- Where the tasks of a queue are pushed to.
ALTER TABLE holdfast.queue
  ADD COLUMN dispatch_url text,
  ADD COLUMN dispatch_secret text,
  ADD COLUMN dispatch_max_in_flight integer,
  ADD CONSTRAINT queue_dispatch_whole CHECK (
    (dispatch_url IS NULL) = (dispatch_secret IS NULL)
    AND (dispatch_url IS NULL) = (dispatch_max_in_flight IS NULL)),
  ADD CONSTRAINT queue_dispatch_max_sane CHECK (dispatch_max_in_flight >= 1);
