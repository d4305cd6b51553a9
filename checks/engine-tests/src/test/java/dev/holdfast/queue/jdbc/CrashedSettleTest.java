package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever moment of a batch the server or a connection dies in: what was acknowledged is there
 * afterwards, and what is sent again is settled once.
 */
@ExtendWith(DatabaseExtension.class)
class CrashedSettleTest {
  private static final int BATCH = 25;
  private static final Duration LATER = Duration.ofHours(1);
  private static final Failure FLAKY = Failure.of(FailureCategory.USER_CODE, "FLAKY", "it broke");

  private final Set<JobId> acknowledged = ConcurrentHashMap.newKeySet();

  private static JobStore on(DataSource source) {
    return new JobStore(source, new JacksonCodec(), JobStore.Options.DEFAULT);
  }

  private static List<Lease> claimed(JobStore store, int count) {
    store.jobs().enqueue(IntStream.range(0, count).mapToObj(i -> Job.of("crash")).toList());
    List<Lease> leases = new ArrayList<>();
    while (leases.size() < count) {
      store
          .jobs()
          .claim(new ClaimRequest(Job.DEFAULT_QUEUE, count, "worker", LATER))
          .jobs()
          .stream()
          .map(LeasedJob::lease)
          .forEach(leases::add);
    }
    return leases;
  }

  /** A third succeed, a third fail and will be retried, a third are snoozed. */
  private static Settlement ending(Lease lease, int number) {
    return switch (number % 3) {
      case 0 -> new Settlement.Succeed(lease, new Json("\"" + lease.job() + "\""));
      case 1 -> new Settlement.Fail(lease, FLAKY, LATER);
      default -> new Settlement.Snooze(lease, LATER);
    };
  }

  /** On its own thread: the shared pool is also needed to start and stop servers. */
  private CompletableFuture<Void> settling(JobStore store, List<Lease> leases) {
    return CompletableFuture.runAsync(
        () -> settleAll(store, leases), task -> Thread.ofPlatform().daemon().start(task));
  }

  /** As a worker does it: what was not answered is sent again, as long as it takes. */
  private void settleAll(JobStore store, List<Lease> leases) {
    for (int from = 0; from < leases.size(); from += BATCH) {
      List<Settlement> batch =
          IntStream.range(from, Math.min(from + BATCH, leases.size()))
              .mapToObj(i -> ending(leases.get(i), i))
              .toList();
      assertThat(untilAnswered(store, batch)).containsOnly(Ack.ACCEPTED);
      batch.forEach(settled -> acknowledged.add(settled.lease().job()));
    }
  }

  private static List<Ack> untilAnswered(JobStore store, List<Settlement> batch) {
    while (true) {
      try {
        return store.jobs().settle(batch);
      } catch (DatabaseException unavailable) {
        assertThat(unavailable.reason()).isEqualTo(DatabaseException.Reason.UNAVAILABLE);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
      }
    }
  }

  private static <T> List<T> ask(DataSource source, Rows.Reader<T> reader, String sql)
      throws SQLException {
    SQLException dead = null;
    // The pool may still hand out connections to the server that was killed.
    for (int tries = 0; tries < 20; tries++) {
      try (Connection connection = source.getConnection()) {
        return Sql.of(sql).on(connection).list(reader);
      } catch (SQLException broken) {
        dead = broken;
      }
    }
    throw Objects.requireNonNull(dead);
  }

  /** Each ending counted once: in the timeline, in the budget, among the attempts. */
  private static void assertSettledOnce(DataSource source, int count) throws SQLException {
    String once =
        """
        SELECT j.id
          FROM holdfast.job j
          LEFT JOIN holdfast.attempt a ON a.job_id = j.id
         WHERE j.attempt = 1 AND j.event_count = 3
           AND (j.state, j.failures, coalesce(a.outcome, 'none'))
               IN (('SUCCEEDED', 0, 'none'), ('RETRYING', 1, 'FAILED'), ('PENDING', 0, 'SNOOZED'))
           AND (j.result #>> '{}' = j.id::text) IS NOT DISTINCT FROM
               (CASE WHEN j.state = 'SUCCEEDED' THEN true END)
        """;
    assertThat(ask(source, row -> Rows.id(row, "id"), once)).doesNotHaveDuplicates().hasSize(count);
  }

  @Test
  void a_batch_whose_connection_dies_at_any_moment_is_settled_once(TestDatabase db)
      throws Exception {
    int count = 1_500;
    DataSource source = db.dataSource(db.url(), 4);
    try (JobStore store = on(source)) {
      List<Lease> leases = claimed(store, count);
      CompletableFuture<Void> settling = settling(store, leases);
      Random random = new Random(1);
      for (int kills = 0; kills < 60 && !settling.isDone(); kills++) {
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(25_000)));
        db.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                + " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                + " AND query LIKE '%holdfast.job%'");
      }
      settling.get(100, TimeUnit.SECONDS);
    }
    assertThat(acknowledged).hasSize(count);
    assertSettledOnce(db.dataSource(), count);
  }

  @Test
  void acknowledged_settlements_survive_a_crash_of_the_server(@TempDir Path folder)
      throws Exception {
    int count = 3_000;
    EmbeddedPostgres server = EmbeddedPostgres.start(TestServer.options(folder.resolve("pg")));
    try (HikariDataSource source = pool(server)) {
      Migrations.apply(source, false);
      try (JobStore store = on(source)) {
        List<Lease> leases = claimed(store, count);
        CompletableFuture<Void> settling = settling(store, leases);
        for (int crash = 1; crash <= 3; crash++) {
          while (acknowledged.size() < count * crash / 5 && !settling.isDone()) {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(3_000_000));
          }
          server.kill();
          Set<JobId> before = new HashSet<>(acknowledged);
          server =
              EmbeddedPostgres.start(TestServer.options(folder.resolve("pg")).port(server.port()));
          assertThat(settled(source)).containsAll(before);
        }
        settling.get(100, TimeUnit.SECONDS);
      }
      assertThat(acknowledged).hasSize(count);
      assertSettledOnce(source, count);
    } finally {
      server.kill();
    }
  }

  private static Set<JobId> settled(DataSource source) throws SQLException {
    return new HashSet<>(
        ask(
            source,
            row -> new JobId(row.getObject("id", UUID.class)),
            "SELECT id FROM holdfast.job WHERE event_count = 3"));
  }

  private static HikariDataSource pool(EmbeddedPostgres server) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(server.jdbcUrl());
    config.setUsername(server.user());
    config.setPassword(server.password());
    config.setMaximumPoolSize(4);
    config.setConnectionTimeout(10_000);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }
}
