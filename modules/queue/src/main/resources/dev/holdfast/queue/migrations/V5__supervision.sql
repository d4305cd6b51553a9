-- Worker processes: how each is doing, and what operators ask of them.

-- Who looks after worker processes. Of one name there is one at a time.
CREATE TABLE holdfast.supervisor (
  name               text        PRIMARY KEY,
  host               text        NOT NULL,
  pid                bigint      NOT NULL,
  process_started_at timestamptz NOT NULL,
  last_seen          timestamptz NOT NULL
);

-- A row a component of a supervisor. While its process lives, the process says how it is doing;
-- what becomes of the process, its supervisor says.
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
  paused             boolean     NOT NULL DEFAULT false,
  restart_count      holdfast.counter NOT NULL DEFAULT 0,
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
CREATE TABLE holdfast.worker_order (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  supervisor   text        NOT NULL,
  component    text        NOT NULL,
  action       text        NOT NULL,
  requested_by text        NOT NULL,
  reason       text        NOT NULL,
  requested_at timestamptz NOT NULL,
  done_at      timestamptz,
  CONSTRAINT worker_order_action_known CHECK (action IN ('pause', 'resume', 'restart', 'stop'))
);
CREATE INDEX worker_order_of ON holdfast.worker_order (supervisor, component, id);
