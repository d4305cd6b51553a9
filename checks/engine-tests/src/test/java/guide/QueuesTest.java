package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class QueuesTest extends Guide {
  private void enqueue(int count, String queue) {
    holdfast.enqueue(Stream.generate(() -> Job.of("any").queue(queue)).limit(count).toList());
  }

  @Test
  void pauses_limits_and_rates_hold() {
    enqueue(6, "reports");
    // region queues
    holdfast.admin().pause("reports"); // running jobs go on, nothing more is claimed
    // endregion
    assertThat(claimed("reports")).isEmpty();
    // region queues
    holdfast.admin().resume("reports");
    holdfast.admin().limit("reports", 4); // at most four at once, wherever; null lifts it
    // endregion
    assertThat(claimed("reports")).hasSize(4);
    assertThat(claimed("reports")).isEmpty();
    holdfast.admin().limit("reports", null);
    assertThat(claimed("reports")).hasSize(2);

    enqueue(150, "mail");
    // region queues
    holdfast.admin().rate("mail", 100, Duration.ofMinutes(1)); // at most 100 starts a minute
    // endregion
    assertThat(claimed("mail")).hasSize(100);
    holdfast.admin().rate("mail", 20, Duration.ofMinutes(1));
    assertThat(claimed("mail")).as("a changed rate begins with a full bucket").hasSize(20);
    // region queues
    holdfast.admin().liftRate("mail");
    // endregion
    assertThat(claimed("mail")).hasSize(30);
  }

  @Test
  void jobs_run_by_priority_and_then_by_due_time() {
    JobId second = enqueue(Job.of("any").queue("order"));
    JobId third = enqueue(Job.of("any").queue("order"));
    JobId last = enqueue(Job.of("any").queue("order").priority(9));
    JobId first = enqueue(Job.of("any").queue("order").priority(0));
    assertThat(List.of(first, second, third, last))
        .allSatisfy(
            job ->
                assertThat(
                        holdfast
                            .jobs()
                            .claim(new ClaimRequest("order", 1, "w", Duration.ofHours(1)))
                            .jobs())
                    .extracting(leased -> leased.id())
                    .containsExactly(job));
  }
}
