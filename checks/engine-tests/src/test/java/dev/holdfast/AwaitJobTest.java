package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class AwaitJobTest extends LibraryTest {
  @Test
  void it_returns_when_the_job_has_ended() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    start(
        worker()
            .handle(
                "work",
                Json.class,
                (payload, context) -> {
                  goOn.await();
                  return "done";
                }));
    JobId id = holdfast.enqueue(Job.of("work")).id();
    assertThat(holdfast.await(id, Duration.ofMillis(20))).isEmpty();
    goOn.countDown();
    assertThat(holdfast.await(id, SOON))
        .hasValueSatisfying(
            job -> {
              assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
              assertThat(String.valueOf(job.result())).isEqualTo("\"done\"");
            });
  }

  @Test
  void it_returns_a_cancelled_job_and_nothing_for_an_unknown_one() throws Exception {
    JobId id = holdfast.enqueue(Job.of("work").queue("nobody")).id();
    holdfast.cancel(id, "no longer needed");
    assertThat(holdfast.await(id, Duration.ZERO))
        .hasValueSatisfying(job -> assertThat(job.state()).isEqualTo(JobState.CANCELLED));
    assertThat(holdfast.await(JobId.next(), Duration.ZERO)).isEmpty();
  }
}
