package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.settle.Backoff;
import dev.holdfast.queue.settle.Fail;
import dev.holdfast.queue.settle.ReleaseAttempts;
import dev.holdfast.queue.sql.FenceSql;
import dev.holdfast.queue.wait.EndedJobs;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the payloads of claimed jobs one by one, after a claim that could not be read as a whole. A
 * payload that the server cannot output fails its job, and that one alone: left where it is, it
 * would break every claim that comes upon it.
 */
final class UnreadableJobs {
  private static final Logger log = LoggerFactory.getLogger(UnreadableJobs.class);

  // The size is asked first, on the server: what is beyond all measure is not sent.
  private static final Sql READ =
      Sql.of(
          """
          SELECT CASE WHEN octet_length(j.payload::text) <= :bytes THEN j.payload::text END AS payload
            FROM holdfast.job j
           WHERE ${held}
          """,
          "held",
          FenceSql.isHeld("j"));

  private static final Sql KEEP =
      Sql.of(
          """
          INSERT INTO holdfast.unreadable_payload (job_id, payload, found_at)
          SELECT id, payload, clock_timestamp() FROM holdfast.job WHERE id = :job
          ON CONFLICT (job_id) DO NOTHING
          """);

  private static final Sql NOTE =
      Sql.of(
          """
          INSERT INTO holdfast.unreadable_payload (job_id, found_at) VALUES (:job, clock_timestamp())
          ON CONFLICT (job_id) DO NOTHING
          """);

  // Lists read the payload too.
  private static final Sql REPLACE =
      Sql.of(
          """
          UPDATE holdfast.job SET payload = '{"unreadable": true}'
           WHERE id = :job AND attempt = :attempt
          """);

  /** How many are claimed at once this way: each takes a statement, while all their leases run. */
  static final int MOST = 20;

  /** What is not read by then goes back to the queue. */
  private static final int PART_OF_LEASE = 3;

  private final Database database;
  private final MaterializedJobs materialized;
  private final Backoff backoff;
  private final EndedJobs endedJobs;

  UnreadableJobs(
      Database database, MaterializedJobs materialized, Backoff backoff, EndedJobs endedJobs) {
    this.database = database;
    this.materialized = materialized;
    this.backoff = backoff;
    this.endedJobs = endedJobs;
  }

  /** True when it may be a payload that broke the claim, and not the way to the server. */
  static boolean mayHelp(DatabaseException error) {
    return error.getCause() instanceof SQLException cause
        && (SqlErrors.isUnreadable(cause)
            || SqlErrors.isOutOfMemory(cause)
            || SqlErrors.isTimeLimit(cause));
  }

  /** One way to claim. */
  interface Claiming {
    /**
     * @param payloads whether they are read with the jobs
     */
    Taken take(ClaimRequest request, boolean payloads);
  }

  /** Claims as usual, and if that cannot be read, some jobs whose payloads are read apart. */
  Taken ifNeeded(ClaimRequest request, Claiming claiming) {
    try {
      return claiming.take(request, true);
    } catch (DatabaseException e) {
      if (!mayHelp(e)) {
        throw e;
      }
      log.warn("a claim failed; its jobs are read one by one: {}", e.getMessage());
    }
    ClaimRequest few = request.most(Math.min(request.most(), MOST));
    Taken taken;
    List<LeasedJob> readable;
    do {
      taken = claiming.take(few, false);
      readable = all(taken.jobs(), request.lease());
    } while (readable.isEmpty() && !taken.isEmpty());
    return taken.with(readable);
  }

  /** Those of them that can be run, with their payloads. */
  List<LeasedJob> all(List<LeasedJob> claimed, Duration lease) {
    long until = System.nanoTime() + lease.toNanos() / PART_OF_LEASE;
    List<LeasedJob> readable = new ArrayList<>();
    List<Settlement.Release> left = new ArrayList<>();
    for (LeasedJob job : claimed) {
      if (System.nanoTime() - until > 0) {
        left.add(new Settlement.Release(job.lease(), false));
      } else {
        one(job).ifPresent(readable::add);
      }
    }
    if (!left.isEmpty()) {
      materialized.holding("release", left, Settlement.Release::lease, ReleaseAttempts::released);
    }
    return readable;
  }

  private Optional<LeasedJob> one(LeasedJob job) {
    Lease lease = job.lease();
    try {
      List<Optional<Json>> payload =
          materialized.holding(
              "read",
              lease,
              connection ->
                  READ.on(connection)
                      .set("bytes", Limits.BULK_BYTES)
                      .lease(lease)
                      .list(row -> Optional.ofNullable(Rows.jsonOrNull(row, "payload"))),
              read -> !read.isEmpty());
      if (!payload.isEmpty() && payload.getFirst().isEmpty()) {
        end(lease, "it has more than %,d bytes".formatted(Limits.BULK_BYTES));
      }
      return payload.stream().flatMap(Optional::stream).map(job::payload).findFirst();
    } catch (DatabaseException e) {
      if (!mayHelp(e)) {
        throw e;
      }
      String why = String.valueOf(e.getMessage());
      if (e.getCause() instanceof SQLException cause && SqlErrors.isUnreadable(cause)) {
        end(lease, why);
      } else {
        putOff(lease, why);
      }
      return Optional.empty();
    }
  }

  /** Fails the job for good. Its payload is kept elsewhere. */
  private void end(Lease lease, String why) {
    log.error("{}: its payload cannot be read, and it has failed: {}", lease, why);
    Settlement.Fail fail =
        new Settlement.Fail(
            lease,
            Failure.of(
                FailureCategory.DATA_QUALITY,
                Failure.PAYLOAD_UNREADABLE,
                "the database cannot read the payload back; it is kept in holdfast.unreadable_payload: "
                    + why),
            Duration.ZERO);
    database.transact(
        "unreadable",
        connection -> {
          if (!Fail.all(connection, backoff, List.of(fail)).isEmpty()) {
            setAside(connection, lease);
          }
          return true;
        });
    endedJobs.add(List.of(lease.job()));
  }

  private static void setAside(Connection connection, Lease lease) throws SQLException {
    Savepoint before = connection.setSavepoint();
    try {
      KEEP.on(connection).set("job", lease.job()).update();
    } catch (SQLException damaged) {
      if (!SqlErrors.isUnreadable(damaged)) {
        throw damaged;
      }
      connection.rollback(before);
      NOTE.on(connection).set("job", lease.job()).update();
    }
    REPLACE.on(connection).lease(lease).update();
  }

  /** The server took too long, or had no memory: perhaps for other reasons. Its budget decides. */
  private void putOff(Lease lease, String why) {
    log.warn("{}: its payload could not be read: {}", lease, why);
    Settlement.Fail fail =
        new Settlement.Fail(
            lease,
            Failure.of(
                FailureCategory.INFRASTRUCTURE,
                Failure.PAYLOAD_UNREADABLE,
                "the payload could not be read: " + why),
            null);
    database.run("fail", connection -> Fail.all(connection, backoff, List.of(fail)));
    endedJobs.add(List.of(lease.job()));
  }
}
