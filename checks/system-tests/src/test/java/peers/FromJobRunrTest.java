package peers;

import static dev.holdfast.test.HoldfastAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import javax.sql.DataSource;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.JobDetails;
import org.jobrunr.jobs.states.ScheduledState;
import org.jobrunr.jobs.states.StateName;
import org.jobrunr.scheduling.BackgroundJob;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.navigation.AmountRequest;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** docs/migrating/jobrunr.md: the same work with JobRunr and with Holdfast. */
@OnlyWithAll
@ExtendWith(HoldfastExtension.class)
class FromJobRunrTest {
  private final Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
  private DataSource dataSource;
  private Holdfast holdfast;

  @BeforeEach
  void open(DataSource dataSource, Holdfast holdfast) {
    this.dataSource = dataSource;
    this.holdfast = holdfast;
  }

  @AfterEach
  void close() {
    JobRunr.destroy();
  }

  // region old-service
  public static class MailService {
    @org.jobrunr.jobs.annotations.Job(name = "send-mail", retries = 5)
    public void send(String to, String subject) {
      Mailer.send(new Mail(to, subject));
    }

    public void report() {}
  }

  // endregion

  // region new-handlers
  Object send(Mail mail, JobContext context) {
    Mailer.send(mail);
    return null; // or a result, which is stored with the job
  }

  Object report(Object payload, JobContext context) {
    return null;
  }

  // endregion

  /** It polls every five seconds at best, so this takes a while. */
  @Test
  @OnlyWithRelease
  void a_method_is_a_kind_and_its_server_is_a_worker() throws Exception {
    // region old-start
    JobRunr.configure()
        .useStorageProvider(SqlStorageProviderFactory.using(dataSource))
        .useBackgroundJobServer()
        .initialize();
    // endregion
    MailService service = new MailService();
    BackgroundJob.enqueue(() -> service.send("ada@example.org", "Welcome"));
    Mailer.expect(new Mail("ada@example.org", "Welcome"));
  }

  @Test
  void a_worker_runs_the_handlers() throws Exception {
    // region new-start
    Worker worker =
        holdfast
            .worker("default")
            .handle("send-mail", Mail.class, this::send)
            .handle("report", Object.class, this::report)
            .start();
    // endregion
    try (worker) {
      holdfast.enqueue(Job.of("send-mail", new Mail("ada@example.org", "Welcome")));
      Mailer.expect(new Mail("ada@example.org", "Welcome"));
    }
  }

  @Test
  void a_call_is_a_job_with_a_payload() {
    StorageProvider storage = SqlStorageProviderFactory.using(dataSource);
    JobRunr.configure().useStorageProvider(storage).initialize();
    MailService service = new MailService();
    // region old-client
    BackgroundJob.enqueue(() -> service.send("ada@example.org", "Welcome"));
    var later = BackgroundJob.schedule(tomorrow, () -> service.send("bob@example.org", "Hello"));
    BackgroundJob.delete(later);
    BackgroundJob.scheduleRecurrently(
        "report", "0 3 * * *", ZoneId.of("Europe/Berlin"), () -> service.report());
    // endregion
    assertThat(storage.countJobs(StateName.ENQUEUED)).isEqualTo(1);
    assertThat(storage.countJobs(StateName.SCHEDULED)).isZero();
    assertThat(storage.getRecurringJobs()).hasSize(1);
    // region new-client
    holdfast.enqueue(Job.of("send-mail", new Mail("ada@example.org", "Welcome")).maxAttempts(6));
    Enqueued job =
        holdfast.enqueue(Job.of("send-mail", new Mail("bob@example.org", "Hello")).runAt(tomorrow));
    holdfast.cancel(job.id(), "no longer wanted");
    holdfast
        .admin()
        .schedule(Schedule.of("report", "0 3 * * *", ZoneId.of("Europe/Berlin"), Job.of("report")));
    // endregion
    assertThat(holdfast).enqueued("send-mail").inState(JobState.PENDING).once();
    assertThat(holdfast).enqueued("send-mail").inState(JobState.CANCELLED).once();
    assertThat(holdfast.admin().schedules()).hasSize(1);
  }

  @Test
  void what_is_enqueued_or_scheduled_moves_over_once(TestTime time) throws Exception {
    StorageProvider storage = SqlStorageProviderFactory.using(dataSource);
    JobRunr.configure().useStorageProvider(storage).initialize();
    MailService service = new MailService();
    BackgroundJob.enqueue(() -> service.send("ada@example.org", "Welcome"));
    BackgroundJob.schedule(tomorrow, () -> service.send("bob@example.org", "Hello"));

    move(storage);
    move(storage);

    assertThat(storage.getJobStats().getTotal()).isZero();
    assertThat(holdfast).enqueued("send-mail").times(2);
    var worker = holdfast.worker("default").handle("send-mail", Mail.class, this::send);
    worker.drain();
    Mailer.expect(new Mail("ada@example.org", "Welcome"));
    time.advance(Duration.ofHours(25), worker);
    Mailer.expect(new Mail("bob@example.org", "Hello"));
  }

  // region move
  /** Run it while no server runs. The job keeps its id, so it is safe to run it again. */
  void move(StorageProvider storage) {
    AmountRequest some = new AmountRequest("updatedAt:ASC", 1_000);
    for (StateName state : List.of(StateName.ENQUEUED, StateName.SCHEDULED)) {
      for (var old : storage.getJobList(state, some)) {
        JobDetails call = old.getJobDetails();
        if (call.getMethodName().equals("send")) {
          Object[] values = call.getJobParameterValues();
          Job job = Job.of("send-mail", new Mail((String) values[0], (String) values[1]));
          if (old.getJobState() instanceof ScheduledState scheduled) {
            job = job.runAt(scheduled.getScheduledAt());
          }
          holdfast.enqueue(job.id(new JobId(old.getId())));
          storage.deletePermanently(old.getId());
        }
      }
    }
  }
  // endregion
}
