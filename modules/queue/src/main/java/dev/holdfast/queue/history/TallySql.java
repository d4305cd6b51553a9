package dev.holdfast.queue.history;

import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;

/** The columns of holdfast.history: made from jobs, and from rows with shorter steps. */
final class TallySql {
  static final String COLUMNS =
      """
      at, queue, kind, tenant, enqueued, succeeded, failed, cancelled,
      wait_buckets, wait_counts, run_buckets, run_counts
      """;

  // Of three CTEs: counted has the numbers of jobs, waited and ran one row a bucket. Each may have
  // several rows for the same key.
  private static final String JOINED =
      """
      SELECT c.at, c.queue, c.kind, c.tenant, c.enqueued, c.succeeded, c.failed, c.cancelled,
             coalesce(w.buckets, '{}') AS wait_buckets, coalesce(w.counts, '{}') AS wait_counts,
             coalesce(r.buckets, '{}') AS run_buckets, coalesce(r.counts, '{}') AS run_counts
        FROM (SELECT at, queue, kind, tenant, sum(enqueued) AS enqueued,
                     sum(succeeded) AS succeeded, sum(failed) AS failed, sum(cancelled) AS cancelled
                FROM counted GROUP BY 1, 2, 3, 4) AS c
        LEFT JOIN ${waited} AS w USING (at, queue, kind, tenant)
        LEFT JOIN ${ran} AS r USING (at, queue, kind, tenant)
      """;

  private static final String HISTOGRAM =
      """
      (SELECT at, queue, kind, tenant, array_agg(bucket ORDER BY bucket) AS buckets,
              array_agg(jobs ORDER BY bucket) AS counts
         FROM (SELECT at, queue, kind, tenant, bucket, sum(jobs)::bigint AS jobs
                 FROM ${of} GROUP BY 1, 2, 3, 4, 5) AS merged
        GROUP BY 1, 2, 3, 4)
      """;

  // A job may be claimed a little before its time by another clock, so no wait is below zero. Times
  // are those of jobs that succeeded: the row of any other may still have the start of an attempt
  // before the last.
  private static final String OF_JOBS =
      """
      WITH ended AS MATERIALIZED (
        SELECT date_bin(interval '1 minute', j.finished_at, 'epoch') AS at,
               j.queue, j.kind, j.tenant, j.state,
               CASE WHEN j.state = 'SUCCEEDED' THEN ${wait} END AS wait,
               CASE WHEN j.state = 'SUCCEEDED' THEN ${run} END AS run, count(*) AS jobs
          FROM holdfast.job j
         WHERE j.finished_at >= :from AND j.finished_at < :until AND ${tenant}
         GROUP BY 1, 2, 3, 4, 5, 6, 7
      ), counted AS (
        SELECT at, queue, kind, tenant, 0 AS enqueued,
               CASE state WHEN 'SUCCEEDED' THEN jobs ELSE 0 END AS succeeded,
               CASE state WHEN 'FAILED' THEN jobs ELSE 0 END AS failed,
               CASE state WHEN 'CANCELLED' THEN jobs ELSE 0 END AS cancelled
          FROM ended
        UNION ALL
        SELECT date_bin(interval '1 minute', j.created_at, 'epoch'), j.queue, j.kind, j.tenant,
               count(*), 0, 0, 0
          FROM holdfast.job j
         WHERE j.created_at >= :from AND j.created_at < :until AND ${tenant}
         GROUP BY 1, 2, 3, 4
      ), waited AS (
        SELECT at, queue, kind, tenant, wait AS bucket, jobs FROM ended WHERE wait IS NOT NULL
      ), ran AS (
        SELECT at, queue, kind, tenant, run AS bucket, jobs FROM ended WHERE run IS NOT NULL
      )
      """;

  private static final String OF_MINUTES =
      """
      WITH part AS MATERIALIZED (
        SELECT date_bin(:seconds * interval '1 second', h.at, 'epoch') AS step, h.*
          FROM holdfast.history h
         WHERE h.step_seconds = ${minute} AND h.at >= :from AND h.at < :until
      ), counted AS (
        SELECT step AS at, queue, kind, tenant, enqueued, succeeded, failed, cancelled FROM part
      ), waited AS (
        SELECT step AS at, queue, kind, tenant, u.bucket, u.jobs
          FROM part, unnest(wait_buckets, wait_counts) AS u(bucket, jobs)
      ), ran AS (
        SELECT step AS at, queue, kind, tenant, u.bucket, u.jobs
          FROM part, unnest(run_buckets, run_counts) AS u(bucket, jobs)
      )
      """;

  private TallySql() {}

  /** Parameters {@code :from}, {@code :until} and {@code :tenant}. */
  static String ofJobs() {
    return Sql.fragment(
            OF_JOBS,
            "wait",
            Histogram.bucketSql("greatest(j.started_at - j.run_at, interval '0')"),
            "run",
            Histogram.bucketSql("(j.finished_at - j.started_at)"),
            "tenant",
            TenantSql.isOf("j"))
        + joined();
  }

  /** Parameters {@code :seconds}, {@code :from} and {@code :until}. */
  static String ofMinutes() {
    return Sql.fragment(OF_MINUTES, "minute", Integer.toString(Resolution.MINUTE.seconds()))
        + joined();
  }

  private static String joined() {
    return Sql.fragment(
        JOINED,
        "waited",
        Sql.fragment(HISTOGRAM, "of", "waited"),
        "ran",
        Sql.fragment(HISTOGRAM, "of", "ran"));
  }
}
