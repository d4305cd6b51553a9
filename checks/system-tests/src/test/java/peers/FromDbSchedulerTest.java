package peers;

import static dev.holdfast.test.HoldfastAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.TaskDescriptor;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.Schedules;
import dev.holdfast.Holdfast;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** docs/migrating/db-scheduler.md: the same work with db-scheduler and with Holdfast. */
@OnlyWithAll
@ExtendWith(HoldfastExtension.class)
class FromDbSchedulerTest {
  private static final String TABLE =
      """
      CREATE TABLE scheduled_tasks (
        task_name text NOT NULL, task_instance text NOT NULL, task_data bytea,
        execution_time timestamptz NOT NULL, picked boolean NOT NULL, picked_by text,
        last_success timestamptz, last_failure timestamptz, consecutive_failures int,
        last_heartbeat timestamptz, version bigint NOT NULL, priority smallint,
        PRIMARY KEY (task_name, task_instance))
      """;

  private final Mail mail = new Mail("ada@example.org", "Welcome");
  private DataSource dataSource;
  private Holdfast holdfast;

  @BeforeEach
  void open(DataSource dataSource, Holdfast holdfast) throws SQLException {
    this.dataSource = dataSource;
    this.holdfast = holdfast;
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(TABLE);
    }
  }

  // region old-task
  static final TaskDescriptor<Mail> SEND_MAIL = TaskDescriptor.of("send-mail", Mail.class);

  OneTimeTask<Mail> sendMail() {
    return Tasks.oneTime(SEND_MAIL)
        .onFailure(
            FailureHandler.<Mail>maxRetries(5).withBackoff(Duration.ofSeconds(10)).thenRemove())
        .execute((instance, context) -> Mailer.send(instance.getData()));
  }

  // endregion

  // region new-kind
  Kind<Mail> kind() {
    return Kind.of("send-mail", Mail.class, this::send)
        .retry(new RetryPolicy(Duration.ofSeconds(10), 1.5, Duration.ofHours(1)))
        .defaults(JobDefaults.NONE.maxAttempts(6)); // the first attempt counts, too
  }

  Object send(Mail mail, JobContext context) {
    Mailer.send(mail);
    return null; // or a result, which is stored with the job
  }

  // endregion

  private void oldReport() {}

  private Object newReport(Object payload, JobContext context) {
    return null;
  }

  @Test
  void a_task_is_a_kind_and_its_scheduler_is_a_worker() throws Exception {
    // region old-start
    RecurringTask<Void> report =
        Tasks.recurring("report", Schedules.daily(ZoneId.of("Europe/Berlin"), LocalTime.of(3, 0)))
            .execute((instance, context) -> oldReport());
    Scheduler scheduler =
        Scheduler.create(dataSource, sendMail()).startTasks(report).threads(10).build();
    scheduler.start();
    // endregion
    try {
      scheduler.scheduleIfNotExists(SEND_MAIL.instance("1").data(mail).scheduledTo(Instant.now()));
      scheduler.triggerCheckForDueExecutions();
      Mailer.expect(mail);
    } finally {
      scheduler.stop();
    }
    // region new-start
    holdfast
        .admin()
        .schedule(Schedule.of("report", "0 3 * * *", ZoneId.of("Europe/Berlin"), Job.of("report")));
    Worker worker =
        holdfast
            .worker("default")
            .handle(kind())
            .handle("report", Object.class, this::newReport)
            .concurrency(10)
            .start();
    // endregion
    try (worker) {
      holdfast.enqueue(Job.of("send-mail", mail));
      Mailer.expect(mail);
    }
  }

  @Test
  void an_instance_is_a_job_with_a_unique_key(TestTime time) throws Exception {
    SchedulerClient client = SchedulerClient.Builder.create(dataSource, sendMail()).build();
    Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
    Instant later = tomorrow.plus(Duration.ofDays(1));
    // region old-client
    client.scheduleIfNotExists(SEND_MAIL.instance(mail.to()).data(mail).scheduledTo(tomorrow));
    client.reschedule(SEND_MAIL.instanceId(mail.to()), later);
    client.cancel(SEND_MAIL.instanceId(mail.to()));
    // endregion
    assertThat(client.getScheduledExecutions()).isEmpty();
    // region new-client
    Enqueued job = holdfast.enqueue(Job.of("send-mail", mail).uniqueKey(mail.to()).runAt(tomorrow));
    holdfast.edit(job.id(), JobEdit.NOTHING.runAt(later));
    holdfast.cancel(job.id(), "no longer wanted");
    // endregion
    assertThat(holdfast).enqueued("send-mail").inState(JobState.CANCELLED).once();
    time.advance(Duration.ofDays(3), holdfast.worker("default").handle(kind()));
    Mailer.expectNothing();
  }

  @Test
  void what_is_scheduled_moves_over_once(TestTime time) throws Exception {
    SchedulerClient client = SchedulerClient.Builder.create(dataSource, sendMail()).build();
    Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
    client.scheduleIfNotExists(SEND_MAIL.instance(mail.to()).data(mail).scheduledTo(tomorrow));

    move(client);
    move(client);

    assertThat(client.getScheduledExecutions()).isEmpty();
    assertThat(holdfast).enqueued("send-mail").inState(JobState.PENDING).once();
    time.advance(Duration.ofHours(23), holdfast.worker("default").handle(kind()));
    Mailer.expectNothing();
    time.advance(Duration.ofHours(2), holdfast.worker("default").handle(kind()));
    Mailer.expect(mail);
  }

  // region move
  /** Run it while no scheduler runs. If it is interrupted, run it again: the key makes it safe. */
  void move(SchedulerClient client) {
    client.fetchScheduledExecutionsForTask(
        "send-mail",
        Mail.class,
        execution -> {
          holdfast.enqueue(
              Job.of("send-mail", execution.getData())
                  .uniqueKey(execution.getTaskInstance().getId())
                  .runAt(execution.getExecutionTime()));
          client.cancel(execution.getTaskInstance());
        });
  }
  // endregion
}
