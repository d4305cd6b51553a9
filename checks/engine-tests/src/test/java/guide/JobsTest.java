package guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.Soon;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class JobsTest extends Guide {
  @Test
  void a_job_is_stored_as_it_was_built() {
    // region job
    Job job =
        Job.of("send-mail", new Mail("ada@example.org", "Hello"))
            .queue("mail")
            .priority(2)
            .delay(Duration.ofMinutes(5))
            .maxAttempts(5)
            .timeout(Duration.ofSeconds(30))
            .deadline(Instant.now().plus(Duration.ofHours(2)))
            .uniqueKey("welcome:ada@example.org");
    Enqueued enqueued = holdfast.enqueue(job);
    // endregion
    assertThat(enqueued).isEqualTo(new Enqueued(job.id(), false));
    JobStatus status = status(job.id());
    assertThat(status.queue()).isEqualTo("mail");
    assertThat(status.priority()).isEqualTo(2);
    assertThat(status.maxAttempts()).isEqualTo(5);
    assertThat(status.uniqueKey()).isEqualTo("welcome:ada@example.org");
    assertThat(status.runAt())
        .isCloseTo(status.createdAt().plus(Duration.ofMinutes(5)), within(1, ChronoUnit.SECONDS));
    assertThat(status.deadline())
        .isCloseTo(Instant.now().plus(Duration.ofHours(2)), within(Soon.SOON));
    assertThat(claimed("mail")).isEmpty();

    holdfast.enqueue(job);
    assertThat(holdfast.queries().list(JobFilter.ALL.queue("mail"))).hasSize(1);

    holdfast.enqueue(job.id(JobId.next()).queue("now").delay(Duration.ZERO).uniqueKey("another"));
    LeasedJob leased =
        holdfast.jobs().claim(new ClaimRequest("now", 1, "somebody", Soon.SOON)).jobs().getFirst();
    assertThat(leased.timeout()).isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void fields_that_are_not_set_have_their_documented_defaults() {
    JobStatus status = status(enqueue(Job.of("plain")));
    assertThat(status.payload().text()).isEqualTo("{}");
    assertThat(status.queue()).isEqualTo("default");
    assertThat(status.priority()).isEqualTo(5);
    assertThat(status.maxAttempts()).isEqualTo(3);
    assertThat(status.maxCrashes()).isEqualTo(2);
    assertThat(status.run()).isEqualTo(status.id());
    assertThat(status.tenant()).isEqualTo("default");
    assertThat(status.workspace()).isEqualTo("default");
  }

  @Test
  void an_enqueue_in_a_transaction_is_committed_or_rolled_back_with_it() throws Exception {
    Job job = Job.of("send-mail", new Mail("ada@example.org", "Hello"));
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      holdfast.enqueue(connection, job);
      connection.rollback();
      assertThat(holdfast.find(job.id())).isEmpty();
      holdfast.enqueue(connection, job);
      connection.commit();
    }
    assertThat(holdfast.find(job.id())).isPresent();
  }
}
