-- A concurrency key belongs to its tenant: claims hop from one key of one tenant to the next.
DROP INDEX holdfast.job_claim_keyed;
CREATE INDEX job_claim_keyed
  ON holdfast.job (queue, concurrency_key, tenant, priority, run_at, id)
  WHERE state = 'PENDING' AND concurrency_key IS NOT NULL;

-- Why a schedule could not be fired, and when that is tried again; null while it can.
ALTER TABLE holdfast.schedule
  ADD COLUMN broken text,
  ADD COLUMN retry_at timestamptz,
  ADD CONSTRAINT schedule_broken_whole CHECK ((broken IS NULL) = (retry_at IS NULL));

-- How many jobs a supervisor took from its dead processes since it began: put back, and ended.
ALTER TABLE holdfast.supervisor
  ADD COLUMN requeued_jobs bigint NOT NULL DEFAULT 0,
  ADD COLUMN ended_jobs bigint NOT NULL DEFAULT 0;

-- How many digits the long numbers of a document have when they are written out, or up to ten times
-- as many: 1e131071 is stored in a few bytes. Nothing is written out to find that. Not by
-- jsonb_path_query, which takes time by the square of what it finds.
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
