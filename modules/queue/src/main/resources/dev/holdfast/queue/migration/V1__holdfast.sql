-- The schema of Holdfast. State lives in one row a job; other events are in attempt and
-- event. docs/queries.md says which statement uses which index.
--
-- Whatever runs this file (holdfast migrate, psql, Flyway, Liquibase) runs it in one transaction; the
-- last statement records the version. CREATE SCHEMA IF NOT EXISTS would demand a privilege also where
-- the schema exists, and a block in dollar quotes is cut in pieces by programs that split at semicolons.
DO 'BEGIN
  IF to_regnamespace(''holdfast'') IS NULL THEN CREATE SCHEMA holdfast; END IF;
END';

-- What one column may hold is said by its type: it is then checked when the column is written, and
-- not with every update of its row. The states are those of JobState.
CREATE DOMAIN holdfast.job_state AS text CHECK (VALUE IN
  ('WAITING', 'PENDING', 'RUNNING', 'RETRYING', 'SUCCEEDED', 'FAILED', 'CANCELLED'));
CREATE DOMAIN holdfast.job_priority AS smallint CHECK (VALUE BETWEEN 0 AND 9);
CREATE DOMAIN holdfast.percent AS smallint CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN holdfast.counter AS integer CHECK (VALUE >= 0);
CREATE DOMAIN holdfast.wait_sort AS text CHECK (VALUE IN
  ('SLEEP', 'SIGNAL', 'APPROVAL', 'CHILDREN'));
CREATE DOMAIN holdfast.failure_policy AS text CHECK (VALUE IN ('CANCEL', 'FAIL', 'RUN'));

-- The states, as bits, in which a unique key is still held after a job became next: all or none. The
-- bits are those of JobState.
CREATE FUNCTION holdfast.unique_after(states smallint, next text) RETURNS smallint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN states = 0 OR states & CASE next
      WHEN 'WAITING' THEN 1 WHEN 'PENDING' THEN 2 WHEN 'RUNNING' THEN 4 WHEN 'RETRYING' THEN 8
      WHEN 'SUCCEEDED' THEN 16 WHEN 'FAILED' THEN 32 WHEN 'CANCELLED' THEN 64 END <> 0
    THEN states ELSE 0::smallint END;

-- How many digits the long numbers of a document have when they are written out, or up to ten times
-- as many: 1e131071 is stored in a few bytes. No number is written out to find that. Not by
-- jsonb_path_query, whose time grows with the square of what it finds.
CREATE FUNCTION holdfast.long_number_digits(document jsonb) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(scale(n.value) + CASE WHEN abs(n.value) < 1 THEN 0
                                            WHEN abs(n.value) < 1e1000 THEN 1000
                                            WHEN abs(n.value) < 1e10000 THEN 10000
                                            ELSE 131072 END), 0)::bigint
    FROM (SELECT number::numeric AS value
            FROM jsonb_array_elements(jsonb_path_query_array(document,
              'strict $.** ? (@ >= 1e100 || @ <= -1e100 || (@ < 1e-100 && @ > -1e-100))'))
              AS number) AS n
  $$;


-- ---- Jobs

CREATE TABLE holdfast.job (
  -- Columns of fixed width that are never null come first: PostgreSQL then knows their offsets.
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

  -- How many events the timeline has.
  event_count          integer     NOT NULL DEFAULT 1,
  priority             holdfast.job_priority NOT NULL,
  -- The states, as bits, in which unique_key is held; 0 once it was given up.
  unique_states        smallint    NOT NULL DEFAULT 0,
  -- The version of the handler that has begun steps, waits or jobs of this one, and alone goes on with
  -- it; 0 while none has, or one without a version.
  version              smallint    NOT NULL DEFAULT 0,
  -- The job has used up its crashes beside others, and now runs in a worker that has no other job.
  isolated             boolean     NOT NULL DEFAULT false,
  -- The last claim was answered over HTTP, where the answer may be lost: Reap does not count a crash
  -- while no heartbeat has confirmed it.
  claimed_over_http    boolean     NOT NULL DEFAULT false,

  state                holdfast.job_state NOT NULL,
  queue                text        NOT NULL,
  kind                 text        NOT NULL,
  tenant               text        NOT NULL,
  workspace            text        NOT NULL,
  run_key              text        NOT NULL,
  payload              jsonb       NOT NULL,

  -- The lease. No index may name heartbeat_at or lease_expires_at: a heartbeat is then a HOT update,
  -- which touches one page and no index. started_event_number is the number of this attempt's 'processing'.
  started_event_number        integer,
  started_at           timestamptz,
  heartbeat_at         timestamptz,
  lease_expires_at     timestamptz,
  worker_id            text,
  -- Who has begun a pushed task, which is leased under the name of its queue. The next claim resets it.
  started_by           text,
  finished_at          timestamptz,
  result               jsonb,
  failure              jsonb,

  progress             holdfast.percent,
  progress_message     text,
  timeout_ms           bigint,
  deadline             timestamptz,
  cancel_requested_at  timestamptz,
  cancel_deadline      timestamptz,
  -- How long the worker that holds the job lets a handler take to stop; set by the claim.
  cancel_grace_ms      bigint,
  cancel_reason        text,

  unique_key           text,
  unique_until         timestamptz,
  concurrency_key      text,
  concurrency_limit    integer,

  parent_id            uuid,
  -- The id under which the parent's handler has started this job: the parent may wait for it.
  started_as           text,
  -- What becomes of a job that waits for others when one of them fails.
  when_dependency_fails holdfast.failure_policy,
  -- What a job waits for whose handler has suspended it: null while it waits for jobs that it depends
  -- on, and in every other state. When the wait is over by itself, and the rest of what it is.
  wait_sort            holdfast.wait_sort,
  wake_at              timestamptz,
  wait                 jsonb,
  -- What a job brings along for its worker besides the payload: assetId, partitionKey, resources,
  -- traceparent and tags. Null for nearly all jobs.
  attributes           jsonb,
  -- Of which job this is a fork, and the step from which on it does again what that has done.
  forked_from          uuid,
  forked_at            text,

  -- Each of these costs every statement that writes a job, however few, as much as two rows do,
  -- because PostgreSQL parses the condition for each statement. What only one verb could get wrong is
  -- left to that verb.
  CONSTRAINT job_running_is_leased CHECK ((state = 'RUNNING') = (lease_expires_at IS NOT NULL)),
  CONSTRAINT job_terminal_is_finished CHECK (
    (state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')) = (finished_at IS NOT NULL))
) WITH (fillfactor = 90); -- Room for heartbeats: in a full page one cannot be HOT.

-- Lists, searches and counts, the newest or the oldest first, and what is new. By the time that the
-- database set, and not by the id, which clients choose. Each new entry comes last.
CREATE INDEX job_created ON holdfast.job (created_at, id);

-- The claim: jobs that are bound by no rule but those of their queue, in the order of the claim. Only
-- PENDING rows are in the three claim indexes, so that finished jobs cost a claim nothing.
CREATE INDEX job_claim ON holdfast.job (queue, priority, run_at, id)
  WHERE state = 'PENDING' AND concurrency_key IS NULL AND NOT isolated;
-- The claim by rules: it hops from one key of one tenant to the next. Apart from job_claim, so that a
-- thousand jobs behind a full key do not stand before those that can run.
CREATE INDEX job_claim_keyed ON holdfast.job (queue, concurrency_key, tenant, priority, run_at, id)
  WHERE state = 'PENDING' AND concurrency_key IS NOT NULL;
-- The claim by rules: jobs for a worker that has no other job. Hardly ever is there one.
CREATE INDEX job_claim_isolated ON holdfast.job (queue, priority, run_at, id)
  WHERE state = 'PENDING' AND isolated;
-- Every claim: whether the worker runs a job that runs alone. Hardly ever is there one.
CREATE INDEX job_running_isolated ON holdfast.job (worker_id)
  WHERE state = 'RUNNING' AND isolated;
-- Reap and expire walk it in its order; claims by rules count in it for limits. By the time of the
-- start, so that each new entry comes last, which is the cheapest place for it.
CREATE INDEX job_running ON holdfast.job (queue, started_at, concurrency_key)
  WHERE state = 'RUNNING';
-- The claim by rules: how many jobs of a key run. job_running would be read from the first running job
-- of the queue for each key.
CREATE INDEX job_running_keyed ON holdfast.job (queue, concurrency_key, tenant)
  WHERE state = 'RUNNING' AND concurrency_key IS NOT NULL;
-- Promote, and the probe of an idle queue: the next retry that is due.
CREATE INDEX job_retrying ON holdfast.job (queue, run_at)
  WHERE state = 'RETRYING';
-- Lists and counts of waiting jobs, of all tenants or of one: read without the rows, of which there may
-- be a million.
CREATE INDEX job_waiting ON holdfast.job (queue, tenant)
  WHERE state = 'WAITING';
-- Unblock, and the probe of an idle queue: jobs that wait for others. Not those that sleep or wait for
-- a signal, of which there may be a million.
CREATE INDEX job_waiting_for_jobs ON holdfast.job (queue)
  WHERE state = 'WAITING' AND (wait_sort IS NULL OR wait_sort = 'CHILDREN');
-- Wake, and the probe of an idle queue: the next wait that is over by itself.
CREATE INDEX job_waking ON holdfast.job (queue, wake_at)
  WHERE wake_at IS NOT NULL;
-- The inbox, searches for what jobs wait for, and counts of it: of one sort, the oldest jobs first.
CREATE INDEX job_open_wait ON holdfast.job (wait_sort, created_at, id)
  WHERE wait_sort IS NOT NULL;
-- Notices: questions of which nobody has been told yet. Empty a second after each question, where
-- servers send notices.
CREATE INDEX job_unnoticed ON holdfast.job (id)
  WHERE wait_sort = 'APPROVAL' AND (wait -> 'noticed') IS NULL;
-- The end of a child: whether its parent has others that have not ended.
CREATE INDEX job_unfinished_child ON holdfast.job (parent_id, started_as)
  WHERE started_as IS NOT NULL AND finished_at IS NULL;
-- The end of a child, too: whether one has failed for which the parent does not wait any longer.
CREATE INDEX job_failed_child ON holdfast.job (parent_id, started_as)
  WHERE started_as IS NOT NULL AND state IN ('FAILED', 'CANCELLED');
-- Workers ask twice a second which of their jobs were cancelled.
CREATE INDEX job_cancelling ON holdfast.job (worker_id)
  WHERE state = 'RUNNING' AND cancel_requested_at IS NOT NULL;
-- Expire: unfinished jobs whose deadline has passed.
CREATE INDEX job_deadline ON holdfast.job (deadline)
  WHERE deadline IS NOT NULL AND finished_at IS NULL;
-- The list of failed jobs, and the warnings that count them.
CREATE INDEX job_failed ON holdfast.job (created_at, id)
  WHERE state = 'FAILED';
-- A cancel that cascades to children, and their list.
CREATE INDEX job_parent ON holdfast.job (parent_id)
  WHERE parent_id IS NOT NULL;
-- The list of a run's jobs, of all tenants or of one; a job that is a run by itself is found by its id.
CREATE INDEX job_run ON holdfast.job (run_id, tenant, created_at, id)
  WHERE run_id <> id;
-- The list of runs: each stands where its newest job does.
CREATE INDEX job_run_created ON holdfast.job (created_at, id)
  WHERE run_id <> id;
-- The list of jobs with a tag. Most jobs have none, and are not in it.
CREATE INDEX job_tags ON holdfast.job USING gin ((attributes -> 'tags') jsonb_path_ops)
  WHERE attributes -> 'tags' IS NOT NULL;
-- Retention, throughput and history. Rows are created and finish in about the order they lie in, which
-- is all that a BRIN index needs. The second column costs a write next to nothing: both are in one
-- summary.
CREATE INDEX job_finished ON holdfast.job USING brin (finished_at, created_at)
  WITH (autosummarize = on);
-- Forks of a job. Most jobs are none.
CREATE INDEX job_forked ON holdfast.job (forked_from)
  WHERE forked_from IS NOT NULL;
-- Versions that jobs need, for the warning that no worker has them. Most jobs need none.
CREATE INDEX job_version ON holdfast.job (queue, kind, version)
  WHERE version > 0 AND finished_at IS NULL;
-- Enqueue: one job at most holds a unique key.
CREATE UNIQUE INDEX job_unique ON holdfast.job (tenant, kind, unique_key)
  WHERE unique_states > 0;

-- Claims of a whole batch. Their jobs stay PENDING in their rows, with attempt 0, and run
-- nevertheless: they are written once, when they are settled, or as soon as anything is said of one of
-- them alone (BatchClaims, MaterializeBatch). A row lasts until all of its jobs are written; there are a few.
CREATE TABLE holdfast.claim (
  id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue            text        NOT NULL,
  worker_id        text        NOT NULL,
  started_at       timestamptz NOT NULL,
  lease_expires_at timestamptz NOT NULL,
  cancel_grace_ms  bigint      NOT NULL,
  job_ids          uuid[]      NOT NULL
);
-- Ids do not compress, and it takes time to find that out.
ALTER TABLE holdfast.claim ALTER COLUMN job_ids SET STORAGE EXTERNAL;

-- Attempts that did not succeed. The one that runs, or succeeded, is read from its job.
CREATE TABLE holdfast.attempt (
  job_id        uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  attempt       integer     NOT NULL,
  outcome       text        NOT NULL,
  worker_id     text        NOT NULL,
  started_by    text,
  started_at    timestamptz NOT NULL,
  ended_at      timestamptz NOT NULL,
  started_event_number integer     NOT NULL,
  failure       jsonb,
  PRIMARY KEY (job_id, attempt),
  CONSTRAINT attempt_outcome_known CHECK (outcome IN
    ('FAILED', 'CRASHED', 'RELEASED', 'SNOOZED', 'SUSPENDED', 'CANCELLED'))
);
-- Reap: what else a worker lost when it lost a job.
CREATE INDEX attempt_crashed ON holdfast.attempt (worker_id)
  WHERE outcome = 'CRASHED';

-- Events besides 'created', 'processing' and 'done', which are read from job and attempt. Where a
-- job succeeded and was sent back to a step, Retry writes both here: the job's row loses them.
CREATE TABLE holdfast.event (
  job_id  uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  number  integer     NOT NULL,
  type    text        NOT NULL,
  attempt integer     NOT NULL,
  at      timestamptz NOT NULL,
  data    jsonb       NOT NULL,
  PRIMARY KEY (job_id, number)
);

-- Which jobs a job waits for. The foreign keys take no lock that a settle or a heartbeat waits for.
CREATE TABLE holdfast.dependency (
  job_id        uuid NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  depends_on_id uuid NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  PRIMARY KEY (job_id, depends_on_id),
  CONSTRAINT dependency_not_on_itself CHECK (job_id <> depends_on_id)
);
-- Retention: a job that is deleted takes along what depends on it here.
CREATE INDEX dependency_on ON holdfast.dependency (depends_on_id);

-- Steps of jobs: the state of each, and the checkpoint that later attempts continue from.
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
  -- How a wait has ended; null for a step that is none.
  ended       jsonb,
  patch       bytea,
  started_at  timestamptz NOT NULL,
  finished_at timestamptz,
  -- Of a step that was reported only once, when it was done: its entry 'finished' in the timeline has
  -- this number, and 'started' the one before. Both are read from this row.
  finished_event_number integer,
  PRIMARY KEY (job_id, step_id),
  CONSTRAINT step_state_known CHECK (state IN ('RUNNING', 'DONE', 'FAILED', 'INTERRUPTED')),
  CONSTRAINT step_events_of_done CHECK (finished_event_number IS NULL OR state = 'DONE')
);

-- What was sent to jobs, by name and in the order in which it came. What a wait has taken stays, so that
-- a signal that is sent again under its key is known.
CREATE TABLE holdfast.signal (
  job_id   uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  -- That of its event in the timeline.
  number   integer     NOT NULL,
  name     text        NOT NULL,
  payload  jsonb       NOT NULL,
  key      text,
  sent_by  text        NOT NULL,
  sent_at  timestamptz NOT NULL,
  -- The wait that has taken it; null while it is in the mailbox.
  taken_by text,
  PRIMARY KEY (job_id, number)
);
-- A signal that is sent again under its key.
CREATE UNIQUE INDEX signal_key ON holdfast.signal (job_id, key)
  WHERE key IS NOT NULL;

-- What servers tell others of questions: one message for each time that a job asks, sent until it is
-- received. Neither its text nor its signature is stored.
CREATE TABLE holdfast.notice (
  id          uuid        PRIMARY KEY,
  job_id      uuid        NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  wait_id     text        NOT NULL,
  -- When the wait began: the same id that is asked again is another question.
  asked_at    timestamptz NOT NULL,
  created_at  timestamptz NOT NULL,
  -- The fence: every try raises it.
  attempts    holdfast.counter NOT NULL DEFAULT 0,
  state       text        NOT NULL,
  -- While a server tries, when another one may; null once it is not tried any more.
  next_try_at timestamptz,
  give_up_at  timestamptz NOT NULL,
  ended_at    timestamptz,
  last_status integer,
  last_error  text,
  CONSTRAINT notice_once UNIQUE (job_id, wait_id, asked_at),
  CONSTRAINT notice_state_known CHECK (state IN ('PENDING', 'DELIVERED', 'SUPERSEDED', 'GIVEN_UP')),
  CONSTRAINT notice_pending_is_tried CHECK ((state = 'PENDING') = (next_try_at IS NOT NULL)),
  CONSTRAINT notice_ended CHECK ((state = 'PENDING') = (ended_at IS NULL))
);
-- Servers: notices that are due, and those that health speaks of.
CREATE INDEX notice_open ON holdfast.notice (state, next_try_at)
  WHERE state IN ('PENDING', 'GIVEN_UP');
-- Lists, the newest first, and the oldest to be forgotten.
CREATE INDEX notice_created ON holdfast.notice (created_at, id);

-- What operators have asked of jobs. A row lasts as long as something is asked.
CREATE TABLE holdfast.job_command (
  job_id       uuid        PRIMARY KEY REFERENCES holdfast.job ON DELETE CASCADE,
  paused       boolean     NOT NULL DEFAULT false,
  takeover     boolean     NOT NULL DEFAULT false,
  -- A step to be done again, once.
  action       text,
  step_id      text,
  requested_by text,
  reason       text,
  requested_at timestamptz,
  CONSTRAINT job_command_whole CHECK (
    (action IS NULL) = (step_id IS NULL) AND (action IS NULL) = (requested_at IS NULL)),
  CONSTRAINT job_command_asks CHECK (paused OR takeover OR action IS NOT NULL)
);

-- What the programs of jobs printed: the last pieces of it, to be read while they run and after. Only
-- the last piece of a job is ever written again, so that a line costs no more than a piece.
CREATE TABLE holdfast.log (
  job_id  uuid    NOT NULL REFERENCES holdfast.job ON DELETE CASCADE,
  attempt integer NOT NULL,
  piece   integer NOT NULL,
  text    text    NOT NULL,
  -- With how many lines of its attempt a piece ends, where lines are sent one by one and may come
  -- again. Null where a worker counts the pieces itself.
  lines   bigint,
  PRIMARY KEY (job_id, attempt, piece),
  CONSTRAINT log_piece_bounded CHECK (char_length(text) <= 4096)
);

-- What jobs have published. The files lie in a store; a row says that one is whole and whose it is. It
-- outlives its job until the file is deleted too, so there is no foreign key.
CREATE TABLE holdfast.artifact (
  job_id       uuid        NOT NULL,
  name         text        NOT NULL,
  attempt      integer     NOT NULL,
  store        text        NOT NULL,
  size         bigint      NOT NULL,
  sha256       text        NOT NULL,
  -- The job's result, should a later attempt find nothing left to do.
  result       jsonb,
  published_at timestamptz NOT NULL,
  orphaned_at  timestamptz,
  PRIMARY KEY (job_id, name),
  CONSTRAINT artifact_size_sane CHECK (size >= 0),
  CONSTRAINT artifact_sha256_sane CHECK (sha256 ~ '^[0-9a-f]{64}$')
);
-- The cleaner of a store: files of jobs that were deleted.
CREATE INDEX artifact_orphaned ON holdfast.artifact (store)
  WHERE orphaned_at IS NOT NULL;

-- Payloads that could not be read, which would have stopped every claim of their queue: taken out of
-- their jobs, which have failed, and kept. Null where the server could not even copy one.
CREATE TABLE holdfast.unreadable_payload (
  job_id   uuid        PRIMARY KEY REFERENCES holdfast.job ON DELETE CASCADE,
  payload  jsonb,
  found_at timestamptz NOT NULL
);

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
  CONSTRAINT completion_outcome_known CHECK
    (outcome IN ('SUCCEEDED', 'CONTINUED', 'FAILED', 'CANCELLED'))
);


-- ---- Queues and schedules

-- Settings of queues that have any. A queue needs no row to exist.
CREATE TABLE holdfast.queue (
  name        text        PRIMARY KEY,
  paused_at    timestamptz,
  paused_by    text,
  pause_reason text,
  max_running  integer,

  -- A bucket of tokens: rate_limit of them per rate_period_ms, one for each job that starts.
  rate_limit     integer,
  rate_period_ms bigint,
  rate_tokens    double precision,
  rate_tokens_at timestamptz,

  -- Where its tasks are pushed to.
  dispatch_url           text,
  dispatch_secret        text,
  dispatch_max_in_flight integer,
  -- Why they do not reach the worker they are pushed to; null while they do. Servers write it, so that
  -- everybody who looks at the database sees it.
  dispatch_error         text,
  dispatch_error_detail  text,
  dispatch_circuit_open  boolean,
  dispatch_error_since   timestamptz,

  CONSTRAINT queue_max_running_sane CHECK (max_running >= 1),
  CONSTRAINT queue_rate_sane CHECK (
    rate_limit >= 1 AND rate_period_ms >= 1 OR rate_limit IS NULL AND rate_period_ms IS NULL),
  CONSTRAINT queue_dispatch_whole CHECK (
    (dispatch_url IS NULL) = (dispatch_secret IS NULL)
    AND (dispatch_url IS NULL) = (dispatch_max_in_flight IS NULL)),
  CONSTRAINT queue_dispatch_max_sane CHECK (dispatch_max_in_flight >= 1),
  CONSTRAINT queue_dispatch_error_whole CHECK (
    (dispatch_error IS NULL) = (dispatch_error_detail IS NULL)
    AND (dispatch_error IS NULL) = (dispatch_circuit_open IS NULL)
    AND (dispatch_error IS NULL) = (dispatch_error_since IS NULL)
    AND (dispatch_error IS NULL OR dispatch_url IS NOT NULL)),
  CONSTRAINT queue_dispatch_error_known CHECK (dispatch_error IN
    ('UNREACHABLE', 'FAILING', 'SECRET_REFUSED', 'NOT_ALLOWED'))
);

-- One row while an operator has paused all workers: no job of any queue is claimed. Otherwise none;
-- the key allows no second row.
CREATE TABLE holdfast.workers_pause (
  singleton  boolean     PRIMARY KEY DEFAULT true,
  paused_at  timestamptz NOT NULL,
  paused_by    text,
  pause_reason text,
  CONSTRAINT workers_pause_once CHECK (singleton)
);

-- Jobs that are enqueued again and again.
CREATE TABLE holdfast.schedule (
  name          text        PRIMARY KEY,
  cron          text        NOT NULL,
  zone          text        NOT NULL,
  missed_fires  text        NOT NULL,
  allow_overlap boolean     NOT NULL,
  queue         text        NOT NULL,
  kind          text        NOT NULL,
  priority      smallint    NOT NULL,
  -- Null leaves it to the process that enqueues the job.
  max_attempts  integer,
  max_crashes   integer     NOT NULL,
  timeout_ms    bigint,
  payload       jsonb       NOT NULL,
  next_fire_at  timestamptz NOT NULL,
  last_fired_at timestamptz,
  paused_at     timestamptz,
  paused_by     text,
  pause_reason  text,
  -- The jobs that it enqueued last, the newest first.
  last_jobs     uuid[]      NOT NULL DEFAULT '{}',
  -- Why it could not be fired, and when that is tried again; null while it can.
  fire_error    text,
  retry_at      timestamptz,
  CONSTRAINT schedule_missed_fires_known CHECK (missed_fires IN ('ONCE', 'SKIP', 'ALL')),
  CONSTRAINT schedule_fire_error_whole CHECK ((fire_error IS NULL) = (retry_at IS NULL))
);

-- Which kinds the live workers of a queue have handlers for, as they announce now and then.
CREATE TABLE holdfast.handled_kind (
  queue   text        NOT NULL,
  kind    text        NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (queue, kind)
) WITH (fillfactor = 50);

-- The same of versions of kinds, where handlers have any.
CREATE TABLE holdfast.handled_version (
  queue   text        NOT NULL,
  kind    text        NOT NULL,
  version smallint    NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (queue, kind, version)
) WITH (fillfactor = 50);

-- Which workers ask servers for jobs of which queues: they are known by it while they hold none.
CREATE TABLE holdfast.worker_poll (
  worker_id  text        NOT NULL,
  queue      text        NOT NULL,
  tenant     text,
  -- Which versions of kinds it has, such as '2 onboard'; none where it does not say.
  versions   text[]      NOT NULL DEFAULT '{}',
  asked_at   timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX worker_poll_of ON holdfast.worker_poll (worker_id, queue, coalesce(tenant, ''));


-- ---- History

-- How many jobs were enqueued and ended within a minute, a quarter of an hour or an hour. Summed up
-- from holdfast.job once all jobs of a minute are committed (SumUpHistory), and never changed.
CREATE TABLE holdfast.history (
  step_seconds integer     NOT NULL,
  at           timestamptz NOT NULL,
  queue        text        NOT NULL,
  kind         text        NOT NULL,
  tenant       text        NOT NULL,
  enqueued     bigint      NOT NULL,
  succeeded    bigint      NOT NULL,
  failed       bigint      NOT NULL,
  cancelled    bigint      NOT NULL,
  -- Histograms of those that succeeded: numbers of buckets that are not empty (Histogram), and how
  -- many jobs are in each.
  wait_buckets smallint[]  NOT NULL,
  wait_counts  bigint[]    NOT NULL,
  run_buckets  smallint[]  NOT NULL,
  run_counts   bigint[]    NOT NULL,
  PRIMARY KEY (step_seconds, at, queue, kind, tenant),
  CONSTRAINT history_step_known CHECK (step_seconds IN (60, 900, 3600))
);

-- How many jobs were due and running: a sample a minute, and the largest of each longer step. The row
-- without a queue is the sum of all, and says that there was a sample.
CREATE TABLE holdfast.queue_depth (
  step_seconds integer     NOT NULL,
  at           timestamptz NOT NULL,
  queue        text        NOT NULL,
  due          bigint      NOT NULL,
  running      bigint      NOT NULL,
  -- How long the first due job had waited.
  oldest_ms    bigint      NOT NULL,
  PRIMARY KEY (step_seconds, at, queue),
  CONSTRAINT queue_depth_step_known CHECK (step_seconds IN (60, 900, 3600))
);

-- How far the history is summed up; one row at most. Its lock gives the work to one process.
CREATE TABLE holdfast.history_cursor (
  singleton    boolean     PRIMARY KEY DEFAULT true,
  known_since  timestamptz NOT NULL,
  summed_until timestamptz NOT NULL,
  sampled_at   timestamptz,
  -- A moment, and a transaction id that was given at that moment: once all transactions before it have
  -- ended, no job with an earlier time can still be committed.
  marked_at    timestamptz,
  marked_xid   xid8,
  CONSTRAINT history_cursor_once CHECK (singleton),
  CONSTRAINT history_cursor_mark_whole CHECK ((marked_at IS NULL) = (marked_xid IS NULL))
);


-- ---- The server

-- A submission sent again under its key is answered as it was the first time.
CREATE TABLE holdfast.idempotency_key (
  -- Keys of one tenant do not meet those of another: 'tenant:{name}', or 'all' for callers of all.
  scope        text        NOT NULL,
  key          text        NOT NULL,
  digest       text        NOT NULL,
  response     jsonb,
  submitted_at timestamptz NOT NULL,
  PRIMARY KEY (scope, key)
);
-- Upkeep: submissions that are old enough to be forgotten.
CREATE INDEX idempotency_key_old ON holdfast.idempotency_key (submitted_at);

-- What each server has counted since its start, by the names of metrics: every server shows the sum.
-- A server that has counted nothing has no row. Rows of servers that are gone are kept for a week.
CREATE TABLE holdfast.server_metrics (
  server    text        PRIMARY KEY,
  last_seen timestamptz NOT NULL,
  figures   jsonb       NOT NULL
) WITH (fillfactor = 50);

-- A key is kept as a digest: who reads this table cannot come in with what stands there.
CREATE TABLE holdfast.api_key (
  id         text        PRIMARY KEY,
  name       text        NOT NULL,
  role       text        NOT NULL,
  -- Null is every tenant.
  tenant     text,
  digest     text        NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT api_key_role_known CHECK (role IN ('viewer', 'submitter', 'worker', 'operator', 'admin'))
);

-- What task tokens and links to questions are signed with: the newest signs, older keys still verify,
-- links for thirty days after the end of a key.
CREATE TABLE holdfast.signing_key (
  kid        text        PRIMARY KEY,
  secret     text        NOT NULL,
  created_at timestamptz NOT NULL,
  retired_at timestamptz
);


-- ---- Worker processes

-- The processes that start and watch worker processes. Of one name there is one at a time.
CREATE TABLE holdfast.supervisor (
  name               text        PRIMARY KEY,
  host               text        NOT NULL,
  pid                bigint      NOT NULL,
  process_started_at timestamptz NOT NULL,
  last_seen          timestamptz NOT NULL,
  -- How many jobs it took from its dead processes since it began: requeued, and ended.
  requeued_jobs      bigint      NOT NULL DEFAULT 0,
  ended_jobs         bigint      NOT NULL DEFAULT 0
);

-- A row a component of a supervisor. While its process lives, the process says how it is doing; what
-- becomes of the process, its supervisor says.
CREATE TABLE holdfast.health (
  supervisor         text        NOT NULL,
  component          text        NOT NULL,
  -- The fence: how many processes there have been. One that was given up can say nothing more.
  incarnation        integer     NOT NULL,
  status             text        NOT NULL,
  -- Together they name one process of that machine, whatever pids are used again.
  pid                bigint,
  process_started_at timestamptz,
  last_seen          timestamptz NOT NULL,
  -- The job it has been at longest; details say how many there are besides.
  current_job        uuid,
  paused_by_operator boolean     NOT NULL DEFAULT false,
  -- After crashes: since it was last healthy for five minutes, and all.
  restart_count      holdfast.counter NOT NULL DEFAULT 0,
  total_restarts     holdfast.counter NOT NULL DEFAULT 0,
  last_restart       timestamptz,
  next_restart       timestamptz,
  -- How the last process ended, and why the component is as it is.
  exit_code          integer,
  reason             text,
  details            jsonb       NOT NULL DEFAULT '{}',
  created_at         timestamptz NOT NULL,
  PRIMARY KEY (supervisor, component),
  CONSTRAINT health_status_known CHECK (
    status IN ('starting', 'healthy', 'stopping', 'crashed', 'failed'))
) WITH (fillfactor = 50);

-- What operators asked of workers: done in this order, and kept for those who ask who it was.
CREATE TABLE holdfast.worker_command (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  supervisor   text        NOT NULL,
  component    text        NOT NULL,
  action       text        NOT NULL,
  requested_by text        NOT NULL,
  reason       text        NOT NULL,
  requested_at timestamptz NOT NULL,
  done_at      timestamptz,
  CONSTRAINT worker_command_action_known CHECK (action IN ('pause', 'resume', 'restart', 'stop'))
);
-- A supervisor: commands that are open, and the last one of each component.
CREATE INDEX worker_command_of ON holdfast.worker_command (supervisor, component, id);

-- How the processes of supervisors ended: when each worker was restarted, and why. Kept for thirty days.
CREATE TABLE holdfast.worker_exit (
  id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  supervisor text        NOT NULL,
  component  text        NOT NULL,
  -- Null where no process could be started.
  pid        bigint,
  started_at timestamptz,
  ended_at   timestamptz NOT NULL,
  status     text        NOT NULL,
  exit_code  integer,
  reason     text        NOT NULL,
  CONSTRAINT worker_exit_status_known CHECK (status IN ('stopping', 'crashed', 'failed'))
);
-- The last ends of one worker, of one supervisor or all that have such a component.
CREATE INDEX worker_exit_of ON holdfast.worker_exit (component, supervisor, id);

-- What the processes of supervisors printed last. A supervisor adds to the last piece until it is full,
-- and drops the oldest.
CREATE TABLE holdfast.worker_log (
  supervisor text        NOT NULL,
  component  text        NOT NULL,
  piece      integer     NOT NULL,
  at         timestamptz NOT NULL,
  text       text        NOT NULL,
  PRIMARY KEY (supervisor, component, piece),
  CONSTRAINT worker_log_piece_bounded CHECK (char_length(text) <= 4096)
);

-- The oldest version of the schema whose programs can work with this one. A migration that only adds leaves it as it is, so
-- that old workers continue during an upgrade; one that takes away what they need raises it.
CREATE TABLE holdfast.schema_compatibility (
  singleton      boolean PRIMARY KEY DEFAULT true,
  oldest_version integer NOT NULL,
  CONSTRAINT schema_compatibility_once CHECK (singleton)
);
INSERT INTO holdfast.schema_compatibility (oldest_version) VALUES (1);

-- The versions of the schema that were applied. The script of a version records it, so that it counts
-- whatever has run it. The digest is that of the script, where 'holdfast migrate' ran it.
CREATE TABLE holdfast.schema_version (
  version    integer     PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now(),
  applied_by text        NOT NULL DEFAULT current_user,
  digest     text
);
INSERT INTO holdfast.schema_version (version) VALUES (1);
