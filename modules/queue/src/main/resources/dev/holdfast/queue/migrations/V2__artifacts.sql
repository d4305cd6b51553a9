-- What jobs have published. The files lie in a store; a row says that one is whole and whose it is.
-- It outlives its job until the file is deleted too, so there is no foreign key.
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
CREATE INDEX artifact_orphaned ON holdfast.artifact (store)
  WHERE orphaned_at IS NOT NULL;
