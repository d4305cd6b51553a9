package dev.holdfast;

import static dev.holdfast.testkit.Soon.STANDSTILL;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** A worker returns its connections as it got them, and neither it nor the pool logs a warning. */
@Isolated("it sees everything that is logged in this process")
@OnlyDirect("it is about the worker's own connections")
class ClosingTest extends LibraryTest {
  private static final int SIZE = 6;

  private HikariDataSource hikari(boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(db.url());
    config.setUsername(db.user());
    config.setPassword(db.password());
    config.setMaximumPoolSize(SIZE);
    config.setAutoCommit(autoCommit);
    return new HikariDataSource(config);
  }

  private void runAFewJobs(Holdfast library) {
    try (Worker running =
        library
            .worker("mail", "money")
            .handle("k", Json.class, (payload, context) -> "done")
            .start()) {
      List<JobId> jobs =
          IntStream.range(0, 5)
              .mapToObj(i -> library.enqueue(Job.of("k").queue(i % 2 == 0 ? "mail" : "money")).id())
              .toList();
      jobs.forEach(
          id -> assertThat(await(id, JobState.SUCCEEDED).worker()).isEqualTo(running.name()));
    }
  }

  @Test
  void closing_a_worker_on_a_pool_logs_no_warning() {
    try (CapturedLog log = CapturedLog.ofAll()) {
      for (int round = 0; round < 6; round++) {
        try (HikariDataSource pool = hikari(round % 2 == 0);
            Holdfast library = Holdfast.on(pool)) {
          runAFewJobs(library);
        }
      }
      assertThat(log.linesFrom(Level.WARN)).isEmpty();
    }
  }

  @Test
  void a_worker_closed_while_it_starts_logs_no_warning() {
    try (CapturedLog log = CapturedLog.ofAll()) {
      for (int round = 0; round < 10; round++) {
        try (HikariDataSource pool = hikari(true);
            Holdfast library = Holdfast.on(pool)) {
          library.worker("mail").handle("k", Json.class, (p, c) -> null).start().close();
        }
      }
      assertThat(log.linesFrom(Level.WARN)).isEmpty();
    }
  }

  @Test
  void closing_an_idle_worker_does_not_wait_for_its_listener() {
    try (HikariDataSource pool = hikari(true);
        Holdfast library = Holdfast.on(pool)) {
      Duration quickest = NEVER;
      for (int round = 0; round < 10; round++) {
        Worker worker = library.worker("mail").handle("k", Json.class, (p, c) -> null).start();
        long start = System.nanoTime();
        worker.close();
        quickest = since(start).compareTo(quickest) < 0 ? since(start) : quickest;
      }
      assertThat(quickest).isLessThan(Duration.ofMillis(700));
    }
  }

  @Test
  void the_pool_keeps_the_same_connections() throws Exception {
    try (HikariDataSource pool = hikari(true)) {
      Set<Integer> before = backends(pool);
      try (Holdfast library = Holdfast.on(pool)) {
        runAFewJobs(library);
      }
      // The same backends: no connection was discarded.
      assertThat(backends(pool)).isEqualTo(before);
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
    }
  }

  /** Opens all there are, and looks whether anything is left on them. */
  private static Set<Integer> backends(HikariDataSource pool) throws SQLException {
    Set<Integer> backends = new HashSet<>();
    Connection[] connections = new Connection[SIZE];
    for (int i = 0; i < SIZE; i++) {
      connections[i] = pool.getConnection();
    }
    for (Connection connection : connections) {
      try (connection;
          Statement statement = connection.createStatement()) {
        assertThat(connection.getAutoCommit()).isTrue();
        assertThat(connection.getNetworkTimeout()).isZero();
        try (var channels = statement.executeQuery("SELECT * FROM pg_listening_channels()")) {
          assertThat(channels.next()).isFalse();
        }
        PGConnection driver = connection.unwrap(PGConnection.class);
        assertThat(driver.getNotifications()).isNullOrEmpty();
        backends.add(driver.getBackendPID());
      }
    }
    return backends;
  }

  @Test
  void without_a_pool_the_connections_are_closed() {
    PGSimpleDataSource plain = new PGSimpleDataSource();
    plain.setUrl(db.url());
    plain.setUser(db.user());
    plain.setPassword(db.password());
    plain.setApplicationName("plain");
    try (CapturedLog log = CapturedLog.ofAll()) {
      try (Holdfast library = Holdfast.on(plain)) {
        runAFewJobs(library);
      }
      until(
          () ->
              db.count("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plain'")
                  == 0);
      assertThat(log.linesFrom(Level.WARN)).isEmpty();
    }
  }

  @Test
  void a_frozen_server_does_not_delay_the_close() throws Exception {
    try (FaultProxy proxy = FaultProxy.before(db);
        HikariDataSource pool = pool(proxy.url(db), SIZE);
        Holdfast library = Holdfast.on(pool)) {
      Worker worker = library.worker("mail").handle("k", Json.class, (p, c) -> null).start();
      JobId id = library.enqueue(Job.of("k").queue("mail")).id();
      await(id, JobState.SUCCEEDED);
      proxy.freeze();
      long start = System.nanoTime();
      worker.stop(Duration.ZERO);
      assertThat(since(start)).isLessThan(STANDSTILL);
      proxy.thaw();
    }
  }
}
