package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@OnlyDirect("the server does it where there is one")
class QueueUpkeepTest extends LibraryTest {
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
        holdfast
            .queries()
            .history(new JobHistory.Query(Duration.ofMinutes(15), null, null, Tenant.ANY));
    assertThat(history.total().succeeded()).isPositive();
  }

  @Test
  void the_history_is_summed_up_at_intervals() {
    QueueUpkeep upkeep = new QueueUpkeep(holdfast.store(), null, System::nanoTime);
    forget();
    assertThat(upkeep.sumUpHistory()).isEqualTo(QueueUpkeep.HISTORY);
    upkeep.sumUpHistory();
    assertThat(db.count(MARKED)).as("the first call begins, the next one marks").isEqualTo(1);
  }
}
