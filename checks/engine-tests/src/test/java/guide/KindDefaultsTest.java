package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.queue.JobStore;
import dev.holdfast.worker.handler.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What jobs of a kind are enqueued with. */
class KindDefaultsTest extends Guide {
  private Holdfast service;

  @BeforeEach
  void openService() {
    RetryDefaults settings =
        new RetryDefaults(
            new RetryDefaults.Retries(9, null),
            Map.of("charge", new RetryDefaults.Retries(7, null)),
            Map.of());
    service =
        Holdfast.on(dataSource, new JacksonCodec(), JobStore.Options.DEFAULT.retries(settings));
  }

  @AfterEach
  void closeService() {
    service.close();
  }

  private static Object charge(Charge charge) {
    return charge;
  }

  @Test
  void a_kind_declares_the_defaults_of_its_jobs() {
    // region defaults
    Kind<Charge> charge =
        Kind.of("charge", Charge.class, (payload, context) -> charge(payload))
            .defaults(
                JobDefaults.NONE
                    .queue("money")
                    .priority(1)
                    .maxAttempts(8)
                    .timeout(Duration.ofSeconds(30)));
    // endregion
    service.worker("money").handle(charge);

    JobId plain = service.enqueue(Job.of("charge")).id();
    assertThat(status(plain))
        .returns("money", JobStatus::queue)
        .returns(1, JobStatus::priority)
        .returns(8, JobStatus::maxAttempts)
        .returns(2, JobStatus::maxCrashes);
    assertThat(
            holdfast
                .jobs()
                .claim(new ClaimRequest("money", 1, "somebody", Duration.ofMinutes(5)))
                .jobs()
                .getFirst())
        .satisfies(leased -> assertThat(leased.timeout()).isEqualTo(Duration.ofSeconds(30)));
    JobId own = service.enqueue(Job.of("charge").queue("default").priority(5).maxAttempts(1)).id();
    assertThat(status(own))
        .as("also a value that is the default of all jobs")
        .returns("default", JobStatus::queue)
        .returns(5, JobStatus::priority)
        .returns(1, JobStatus::maxAttempts);
    assertThat(status(service.enqueue(Job.of("other")).id()))
        .returns("default", JobStatus::queue)
        .returns(9, JobStatus::maxAttempts);
  }

  @Test
  void defaults_of_a_service_that_only_enqueues_apply_to_every_way_to_enqueue()
      throws SQLException {
    // region enqueue-only
    service.defaults("charge", JobDefaults.NONE.queue("money"));
    // endregion
    assertThat(status(service.enqueue(Job.of("charge")).id()))
        .returns("money", JobStatus::queue)
        .as("from the settings for the kind")
        .returns(7, JobStatus::maxAttempts);
    JobId second = service.enqueue(List.of(Job.of("other"), Job.of("charge"))).getLast().id();
    assertThat(status(second).queue()).isEqualTo("money");
    try (Connection connection = dataSource.getConnection()) {
      JobId third = service.enqueue(connection, Job.of("charge")).id();
      assertThat(status(third).queue()).isEqualTo("money");
    }
    service.admin().schedule(Schedule.every("charges", Duration.ofHours(1), Job.of("charge")));
    JobId scheduled = holdfast.admin().runSchedule("charges").orElseThrow().id();
    assertThat(status(scheduled).queue()).as("whichever process fires it").isEqualTo("money");
    assertThat(status(enqueue(Job.of("charge"))).queue())
        .as("of a service that has not declared it")
        .isEqualTo("default");
  }

  @Test
  void middleware_around_an_enqueue_sees_the_queue() {
    service.defaults("seen", JobDefaults.NONE.queue("money"));
    service.aroundEnqueue(
        (jobs, next) -> {
          assertThat(jobs).extracting(Job::queue).containsExactly("money");
          return next.run(jobs);
        });
    service.enqueue(Job.of("seen"));
    assertThat(holdfast.queries().list(JobFilter.ALL.kind("seen"))).hasSize(1);
  }
}
