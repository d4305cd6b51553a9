package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.Impatient;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.DatabaseException.Reason;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.postgresql.ds.PGSimpleDataSource;

/** A worker that could not work is refused when it is started, and the message says what to do. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = CapturedLog.OF_OUTAGES, mode = ResourceAccessMode.READ)
@OnlyDirect("it is about the worker's own connections")
class StartTest extends LibraryTest {
  private Holdfast on(int poolSize) {
    return impatient(pool(db.url(), poolSize));
  }

  private static WorkerBuilder worker(Holdfast library) {
    return library
        .worker(Job.DEFAULT_QUEUE)
        .handle("echo", Json.class, (payload, context) -> payload)
        .shutdownTimeout(Duration.ZERO);
  }

  private static DatabaseException refused(WorkerBuilder builder) {
    DatabaseException refused =
        catchThrowableOfType(DatabaseException.class, () -> builder.start().close());
    assertThat(refused).as("it started").isNotNull();
    return refused;
  }

  @Test
  void a_pool_with_too_few_connections_is_refused_with_the_number_it_needs() {
    for (int size = 1; size <= 2; size++) {
      DatabaseException refused = refused(worker(on(size)));
      assertThat(refused.reason()).isEqualTo(Reason.POOL_TOO_SMALL);
      assertThat(refused)
          .hasMessageContaining("gave %d of the 3 connections", size)
          .hasMessageContaining("maximumPoolSize")
          .hasMessageContaining("to 3 or more");
    }
  }

  @Test
  void the_smallest_pool_that_is_not_refused_runs_jobs() {
    Holdfast library = on(3);
    start(worker(library));
    JobId id = enqueue(Job.of("echo"));
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void each_further_worker_needs_one_more_connection() {
    HikariDataSource pool = pool(db.url(), 4);
    Holdfast library = impatient(pool);
    start(worker(library));
    start(worker(library));
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
    // One for the heartbeats of both, and one for each to listen: they come after the start.
    Awaitility.await()
        .atMost(SOON)
        .during(Duration.ofMillis(200))
        .until(() -> pool.getHikariPoolMXBean().getActiveConnections() >= 3);
    assertThat(refused(worker(library)))
        .hasMessageContaining("gave 4 of the 5 connections")
        .hasMessageContaining("to 5 or more");
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
  }

  @Test
  void draining_needs_no_connection_to_listen() {
    JobId id = enqueue(Job.of("echo"));
    worker(on(2)).drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    Holdfast single = on(1);
    assertThatThrownBy(() -> worker(single).drain())
        .hasMessageContaining("gave 1 of the 2 connections");
  }

  /** However long a busy machine takes for a connection that this pool does not wait for. */
  private static Connection taken(HikariDataSource pool) throws SQLException {
    while (true) {
      try {
        return pool.getConnection();
      } catch (SQLTransientConnectionException busy) {
        assertThat(busy.getMessage()).contains("request timed out");
      }
    }
  }

  @Test
  void a_start_waits_for_connections_that_others_hold() throws Exception {
    HikariDataSource pool = pool(db.url(), 3);
    Holdfast library = closing(Holdfast.on(pool));
    CompletableFuture<Void> started;
    try (Connection held = taken(pool);
        Connection alsoHeld = taken(pool)) {
      started = CompletableFuture.runAsync(() -> start(worker(library)));
      TimeUnit.MILLISECONDS.sleep(1_000); // longer than this pool itself waits
      assertThat(started).isNotDone();
      assertThat(held.isClosed() || alsoHeld.isClosed()).isFalse();
    }
    started.get(SOON.toSeconds(), TimeUnit.SECONDS);
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
  }

  @Test
  void an_unreachable_database_is_not_reported_as_a_pool_that_is_too_small() {
    FaultProxy proxy = closing(FaultProxy.before(db));
    Holdfast library = impatient(pool(proxy.url(db), 5));
    worker(library).start().close();
    proxy.cut();
    assertThat(refused(worker(library)).reason()).isEqualTo(Reason.UNAVAILABLE);
  }

  @Test
  void a_server_out_of_connections_is_not_reported_as_a_pool_that_is_too_small() {
    AtomicInteger given = new AtomicInteger();
    Holdfast library =
        impatient(
            lending(
                pool(db.url(), 5),
                () -> {
                  if (given.incrementAndGet() > 1) {
                    throw new SQLException("sorry, too many clients already", "53300");
                  }
                }));
    DatabaseException refused = refused(worker(library));
    assertThat(refused.reason()).isEqualTo(Reason.UNAVAILABLE);
    assertThat(refused).hasMessageContaining("too many clients");
  }

  @Test
  void a_slow_start_that_makes_progress_is_not_refused() {
    // Three of these take longer than the timeout, which is for each.
    Holdfast library = impatient(lending(pool(db.url(), 5), () -> pause(1_800)));
    start(worker(library));
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
  }

  @Test
  void a_refused_worker_keeps_no_connection() {
    HikariDataSource pool = pool(db.url(), 2);
    refused(worker(impatient(pool)));
    until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
  }

  @Test
  void a_pool_that_blocks_for_ever_does_not_delay_the_close() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    HikariDataSource pool = pool(db.url(), 5);
    Holdfast library = Holdfast.on(lending(pool, () -> unbroken(never)));
    Impatient.make(library.store());
    assertThat(refused(worker(library)).reason()).isEqualTo(Reason.UNAVAILABLE);
    CompletableFuture.runAsync(library::close).get(SOON.toSeconds(), TimeUnit.SECONDS);
    // A connection it hands out in the end is returned.
    never.countDown();
    until(() -> pool.getHikariPoolMXBean().getTotalConnections() > 0);
    until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
  }

  /** Runs before a connection is handed out. */
  private interface Before {
    void happens() throws SQLException;
  }

  private static DataSource lending(DataSource pool, Before before) {
    return (DataSource)
        Proxy.newProxyInstance(
            StartTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("getConnection")) {
                before.happens();
                return pool.getConnection();
              }
              return switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> method.invoke(pool, arguments);
              };
            });
  }

  private static void pause(long millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private static void unbroken(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void the_migrate_command_names_the_user_unescaped() {
    TestDatabase empty = db.empty();
    String user = "a$1_" + empty.name();
    db.sql("CREATE ROLE \"" + user + "\" LOGIN PASSWORD 'secret-word'");
    try (Holdfast library = Holdfast.on(as(empty, user))) {
      assertThat(refused(worker(library)))
          .hasMessageContaining("holdfast migrate --database postgresql://" + user + "@");
    } finally {
      db.sql("DROP ROLE \"" + user + "\"");
    }
  }

  private static PGSimpleDataSource as(TestDatabase database, String user) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(database.url());
    source.setUser(user);
    source.setPassword("secret-word");
    return source;
  }

  @Test
  void a_missing_schema_is_reported_with_the_command_and_the_call() {
    Holdfast library = closing(Holdfast.on(pool(db.empty().url(), 3)));
    DatabaseException refused = refused(worker(library));
    assertThat(refused.reason()).isEqualTo(Reason.SCHEMA_MISSING);
    assertThat(refused)
        .hasMessageContaining("holdfast migrate --database postgresql://" + db.user() + "@")
        .hasMessageContaining("Migrations.apply(dataSource, false)");
    assertThat(refused.getMessage()).doesNotContain("password");
  }

  @Test
  void an_older_or_newer_schema_is_refused() {
    long current = db.count("SELECT max(version) FROM holdfast.schema_version");
    String change = "UPDATE holdfast.schema_version SET version = %d WHERE version = %d";
    db.sql(change.formatted(current - 1, current));
    assertThat(refused(worker(on(3))))
        .hasMessageContaining("at version %d, this Holdfast needs %d", current - 1, current)
        .hasMessageContaining("holdfast migrate --database");
    db.sql(change.formatted(current + 1, current - 1));
    db.sql("UPDATE holdfast.schema_compatibility SET oldest_version = " + (current + 1));
    assertThat(refused(worker(on(3)))).hasMessageContaining("upgrade Holdfast");
  }

  @Test
  void a_worker_without_handlers_is_refused() {
    assertThatThrownBy(() -> holdfast.worker("mail").start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no handlers")
        .hasMessageContaining("handle(");
    assertThatThrownBy(() -> holdfast.worker("mail").drain()).hasMessageContaining("no handlers");
  }

  @Test
  void a_kind_with_two_handlers_is_refused() {
    WorkerBuilder builder = worker(holdfast);
    assertThatThrownBy(() -> builder.handle("echo", Json.class, (payload, context) -> 2))
        .hasMessageContaining("kind 'echo' has two handlers")
        .hasMessageContaining("its own kind");
  }

  @Test
  void a_refused_login_is_reported_at_once() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(db.url());
    source.setUser("nobody");
    source.setPassword("wrong");
    Holdfast library = closing(Holdfast.on(source));
    assertThat(refused(worker(library)).reason()).isEqualTo(Reason.LOGIN_REFUSED);
  }
}
