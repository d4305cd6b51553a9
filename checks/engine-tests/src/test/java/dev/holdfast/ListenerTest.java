package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ListenerTest extends LibraryTest {
  private final List<String> heard = new CopyOnWriteArrayList<>();

  private final JobListener listener =
      new JobListener() {
        @Override
        public void started(LeasedJob job, String worker) {
          heard.add("started " + job.lease().attempt() + " by " + worker);
        }

        @Override
        public void settled(LeasedJob job, Settlement settlement, Ack ack) {
          heard.add(settlement.getClass().getSimpleName() + " " + ack);
        }

        @Override
        public void lost(LeasedJob job) {
          heard.add("lost " + job.lease().attempt());
        }
      };

  private final JobListener hostile =
      new JobListener() {
        @Override
        public void started(LeasedJob job, String worker) {
          throw new IllegalStateException("bad listener");
        }

        @Override
        public void settled(LeasedJob job, Settlement settlement, Ack ack) {
          throw new AssertionError("bad listener");
        }

        @Override
        public void lost(LeasedJob job) {
          throw new IllegalStateException("bad listener");
        }
      };

  @Test
  void a_listener_is_called_at_every_start_and_end() {
    JobId id = enqueue(Job.of("eventful"));
    Worker worker =
        start(
            worker()
                .listener(listener)
                .handle(
                    "eventful",
                    Json.class,
                    AT_ONCE,
                    (payload, context) ->
                        switch (context.lease().attempt()) {
                          case 1 -> throw new IllegalStateException("fails");
                          case 2 -> throw context.snooze(Duration.ZERO);
                          default -> "done";
                        }));
    await(id, JobState.SUCCEEDED);
    until(() -> heard.size() == 6);
    String by = " by " + worker.name();
    // The end may be reported after the next attempt has started, even in the same worker.
    assertThat(heard)
        .containsSubsequence("started 1" + by, "Fail ACCEPTED")
        .containsSubsequence("started 2" + by, "Snooze ACCEPTED")
        .containsSubsequence("started 3" + by, "Succeed ACCEPTED")
        .containsSubsequence("started 1" + by, "started 2" + by, "started 3" + by)
        .hasSize(6);
  }

  @Test
  void a_listener_is_called_at_a_lost_lease() {
    CountDownLatch begun = new CountDownLatch(1);
    JobId id = enqueue(Job.of("slow"));
    start(
        worker()
            .listener(hostile)
            .listener(listener)
            .handle(
                "slow",
                Json.class,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    begun.countDown();
                    Thread.sleep(NEVER);
                  }
                  return "done";
                }));
    until(begun);
    takeAway(id);
    until(() -> heard.contains("lost 1"));
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void a_listener_that_throws_affects_no_job() {
    start(
        worker()
            .listener(hostile)
            .listener(listener)
            .handle("quick", Json.class, (payload, context) -> null));
    for (int i = 0; i < 5; i++) {
      await(enqueue(Job.of("quick")), JobState.SUCCEEDED);
    }
    until(() -> heard.size() == 10);
  }
}
