package dev.holdfast.queue.recover;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Point-in-time recovery, as docs/operations.md describes it. */
class RestoreTest {
  private static final Duration LEASE = Duration.ofSeconds(1);

  @TempDir Path folder;

  /** A server in this folder, and a queue on it. */
  private final class Opened implements AutoCloseable {
    private final EmbeddedPostgres server;
    private final HikariDataSource pool;
    private final JobStore store;

    Opened(String name) {
      server =
          EmbeddedPostgres.start(
              TestServer.options(folder.resolve(name))
                  .settings(
                      Map.of(
                          "archive_mode",
                          "on",
                          "archive_command",
                          "cp %p " + folder.resolve("archive") + "/%f",
                          "dynamic_shared_memory_type",
                          "mmap")));
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(server.jdbcUrl());
      config.setUsername(server.user());
      config.setPassword(server.password());
      config.setMaximumPoolSize(4);
      pool = new HikariDataSource(config);
      store = new JobStore(pool, new JacksonCodec(), JobStore.Options.DEFAULT);
    }

    String ask(String sql) {
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(sql)) {
        rows.next();
        return rows.getString(1);
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    JobId add(String name) {
      return store.jobs().enqueue(Job.of("test").queue(name)).id();
    }

    Lease claim(String name) {
      LeasedJob claimed =
          store.jobs().claim(new ClaimRequest(name, 1, "worker", LEASE)).jobs().getFirst();
      return claimed.lease();
    }

    Ack succeed(Lease lease) {
      return store.jobs().settle(new Settlement.Succeed(lease, null));
    }

    JobStatus status(JobId job) {
      return store.queries().find(job).orElseThrow();
    }

    @Override
    public void close() {
      store.close();
      pool.close();
      server.close();
    }
  }

  /** A copy of the folder of a server that is not running is a base backup. */
  private void backUp(String from, String to) throws Exception {
    int exit =
        new ProcessBuilder(
                "cp", "-a", folder.resolve(from).toString(), folder.resolve(to).toString())
            .inheritIO()
            .start()
            .waitFor();
    assertThat(exit).isZero();
  }

  private void recoverTo(String name, String point) throws IOException {
    Path data = folder.resolve(name).resolve("data");
    Files.writeString(
        data.resolve("postgresql.auto.conf"),
        """

        restore_command = 'cp %s/%%f %%p'
        recovery_target_name = '%s'
        recovery_target_action = 'promote'
        """
            .formatted(folder.resolve("archive"), point),
        StandardOpenOption.APPEND);
    Files.createFile(data.resolve("recovery.signal"));
  }

  @Test
  void after_a_restore_the_jobs_are_as_they_were_and_leases_of_that_time_run_out()
      throws Exception {
    Files.createDirectory(folder.resolve("archive"));
    try (Opened primary = new Opened("primary")) {
      Migrations.apply(primary.pool, false);
    }
    backUp("primary", "restored");
    JobId ended;
    JobId pending;
    JobId later;
    Lease lost;
    Lease kept;
    try (Opened primary = new Opened("primary")) {
      ended = primary.add("a");
      primary.succeed(primary.claim("a"));
      pending = primary.add("b");
      primary.add("c");
      lost = primary.claim("c");
      primary.add("d");
      kept = primary.claim("d");
      primary.ask("SELECT pg_create_restore_point('noon')");
      // All of this is undone.
      assertThat(primary.succeed(primary.claim("b"))).isEqualTo(Ack.ACCEPTED);
      assertThat(primary.succeed(lost)).isEqualTo(Ack.ACCEPTED);
      later = primary.add("a");
      primary.ask("SELECT pg_switch_wal()");
    }
    recoverTo("restored", "noon");
    try (Opened restored = new Opened("restored")) {
      await().atMost(SOON).until(() -> restored.ask("SELECT pg_is_in_recovery()").equals("f"));
      assertThat(restored.store.queries().find(later)).isEmpty();
      assertThat(restored.status(ended).state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(restored.status(pending).state()).isEqualTo(JobState.PENDING);
      assertThat(restored.status(lost.job()).state()).isEqualTo(JobState.RUNNING);
      // A worker that ran on through it may settle what it began before.
      assertThat(restored.succeed(kept)).isEqualTo(Ack.ACCEPTED);
      await()
          .atMost(SOON)
          .until(() -> !restored.store.maintenance().reap(Duration.ZERO).requeued().isEmpty());
      assertThat(restored.status(lost.job()).crashes()).isEqualTo(1);
      assertThat(restored.claim("c")).isEqualTo(new Lease(lost.job(), 2));
      assertThat(restored.claim("b")).isEqualTo(new Lease(pending, 1));
    }
  }
}
