package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

@OnlyDirect("the server does it where there is one")
class HistoryUpkeepTest extends LibraryTest {
  private static final String MARKED =
      "SELECT count(*) FROM holdfast.history_cursor WHERE marked_at IS NOT NULL";

  private void forget() {
    db.sql("TRUNCATE holdfast.history, holdfast.queue_depth, holdfast.history_cursor");
  }

  @Test
  void a_worker_of_the_library_sums_up_the_history() {
    forget();
    JobId job = enqueue(Job.of("echo"));
    start(
        holdfast
            .worker(Job.DEFAULT_QUEUE)
            .timings(CALM)
            .handle("echo", Json.class, (payload, context) -> payload));
    until(() -> db.count(MARKED) == 1);
    await(job, JobState.SUCCEEDED);
    JobHistory history =
        holdfast.queries().history(new JobHistory.Query(Duration.ofMinutes(15), null, null, null));
    assertThat(history.total().succeeded()).isPositive();
  }

  @Test
  void it_runs_at_intervals_and_continues_at_once_while_there_is_more() {
    AtomicLong nanos = new AtomicLong();
    HistoryUpkeep history = new HistoryUpkeep(holdfast.store().maintenance(), nanos::get);
    history.runIfDue();
    forget();
    history.runIfDue();
    assertThat(db.count("SELECT count(*) FROM holdfast.history_cursor")).as("not due").isZero();
    nanos.addAndGet(HistoryUpkeep.INTERVAL.toNanos());
    history.runIfDue();
    assertThat(db.count(MARKED)).as("the first call begins, the next one marks").isEqualTo(1);
  }
}
