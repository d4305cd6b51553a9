package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.worker.source.Metrics;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** An outage is logged once with its cause, however many loops notice it. */
@OnlyDirect("between server and worker each has something to say")
class OutageLogTest extends LibraryTest {
  private static final String AWAY = "the database does not answer";
  private static final String BACK = "the database answers again after";

  private final CountDownLatch begun = new CountDownLatch(2);
  private final CountDownLatch goOn = new CountDownLatch(1);

  private WorkerBuilder waiting(Holdfast library, Timings timings) {
    return workerOf(library)
        .timings(timings)
        .concurrency(1)
        .handle(
            "wait",
            Json.class,
            (payload, context) -> {
              begun.countDown();
              goOn.await();
              return null;
            });
  }

  @Test
  @ResourceLock(CapturedLog.OF_OUTAGES)
  void an_outage_logs_one_warning_with_its_cause_and_one_notice_at_its_end() throws Exception {
    FaultProxy proxy = closing(FaultProxy.before(db));
    Holdfast library = closing(Holdfast.on(pool(proxy.url(db), 8)));
    closing(library.upkeep(QUICK, new Metrics()));
    JobId one = enqueue(Job.of("wait"));
    JobId other = enqueue(Job.of("wait"));
    start(waiting(library, QUICK));
    start(waiting(library, QUICK));
    until(begun);
    try (CapturedLog log = new CapturedLog()) {
      proxy.cut();
      until(() -> log.lines(Level.WARN, "HEARTBEAT_DEGRADED").size() == 2);
      until(() -> !log.lines(Level.WARN, AWAY).isEmpty());
      // The outbox is one more loop that fails.
      goOn.countDown();
      TimeUnit.MILLISECONDS.sleep(6 * QUICK.heartbeat().toMillis());
      assertThat(log.lines(Level.WARN, AWAY)).singleElement().asString().contains("onnection");
      assertThat(log.linesFrom(Level.WARN)).hasSize(3);
      assertThat(log.linesFrom(Level.INFO)).hasSize(3);
      proxy.mend();
      await(one, JobState.SUCCEEDED);
      await(other, JobState.SUCCEEDED);
      until(() -> !log.lines(Level.INFO, BACK).isEmpty());
      assertThat(log.lines(Level.INFO, BACK)).hasSize(1);
      assertThat(log.linesFrom(Level.WARN)).hasSize(3);
    }
  }

  @Test
  @ResourceLock(CapturedLog.OF_OUTAGES)
  void an_error_that_is_not_an_outage_is_logged_each_time() {
    try (CapturedLog log = new CapturedLog()) {
      start(worker().handle("k", Json.class, (payload, context) -> null));
      db.sql("ALTER TABLE holdfast.queue RENAME TO gone");
      until(() -> log.lines(Level.ERROR, "failed").size() > 2);
      assertThat(log.lines(Level.WARN, AWAY)).isEmpty();
      db.sql("ALTER TABLE holdfast.gone RENAME TO queue");
      await(enqueue(Job.of("k")), JobState.SUCCEEDED);
    }
  }

  @Test
  @ResourceLock(CapturedLog.OF_OUTAGES)
  void an_outage_found_by_an_enqueue_throws_and_is_logged_once() {
    FaultProxy proxy = closing(FaultProxy.before(db));
    Holdfast library = closing(Holdfast.on(pool(proxy.url(db), 3)));
    try (CapturedLog log = new CapturedLog()) {
      proxy.cut();
      for (int i = 0; i < 3; i++) {
        assertThat(catchThrowable(() -> library.enqueue(Job.of("k"))))
            .isInstanceOf(DatabaseException.class);
      }
      assertThat(log.linesFrom(Level.WARN)).singleElement().asString().contains(AWAY);
      proxy.mend();
      // The pool takes a moment to find out.
      until(() -> catchThrowable(() -> library.enqueue(Job.of("k"))) == null);
      assertThat(log.lines(Level.INFO, BACK)).hasSize(1);
    }
  }

  @Test
  @ResourceLock(CapturedLog.OF_OUTAGES)
  void a_worker_that_cannot_reach_the_database_does_not_start_and_logs_nothing() {
    FaultProxy proxy = closing(FaultProxy.before(db));
    Holdfast library = impatient(pool(proxy.url(db), 5));
    WorkerBuilder builder = workerOf(library).handle("k", Json.class, (payload, context) -> null);
    proxy.cut();
    try (CapturedLog log = new CapturedLog()) {
      assertThatThrownBy(builder::start)
          .isInstanceOfSatisfying(
              DatabaseException.class, refused -> assertThat(refused.isTransient()).isTrue())
          .hasMessageContaining("no connection to the database within")
          .hasMessageContaining("is the server running");
      assertThat(log.linesFrom(Level.WARN)).isEmpty();
    }
    proxy.mend();
    start(builder);
    await(enqueue(Job.of("k")), JobState.SUCCEEDED);
  }
}
