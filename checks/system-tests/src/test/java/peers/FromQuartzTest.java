package peers;

import static dev.holdfast.test.HoldfastAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Date;
import java.util.TimeZone;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.quartz.CronScheduleBuilder;
import org.quartz.CronTrigger;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobKey;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.matchers.GroupMatcher;

/** docs/migrating/quartz.md: the same work with Quartz, in memory, and with Holdfast. */
@OnlyWithAll
@ExtendWith(HoldfastExtension.class)
class FromQuartzTest {
  private final Mail mail = new Mail("ada@example.org", "Welcome");
  private final Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
  private Holdfast holdfast;
  private Scheduler scheduler;

  @BeforeEach
  void open(Holdfast holdfast) throws SchedulerException {
    this.holdfast = holdfast;
    scheduler = StdSchedulerFactory.getDefaultScheduler();
  }

  @AfterEach
  void close() throws SchedulerException {
    scheduler.shutdown(true);
  }

  // region old-job
  @DisallowConcurrentExecution
  public static class SendMail implements org.quartz.Job {
    @Override
    public void execute(JobExecutionContext context) {
      JobDataMap data = context.getMergedJobDataMap();
      Mailer.send(new Mail(data.getString("to"), data.getString("subject")));
    }
  }

  // endregion

  // region new-handler
  Object send(Mail mail, JobContext context) {
    Mailer.send(mail);
    return null; // or a result, which is stored with the job
  }

  // endregion

  private static JobDetail detail(String name) {
    return JobBuilder.newJob(SendMail.class)
        .withIdentity(name, "mails")
        .usingJobData("to", "ada@example.org")
        .usingJobData("subject", "Welcome")
        .build();
  }

  @Test
  void a_job_with_a_trigger_is_an_enqueued_job() throws Exception {
    // region old-start
    JobDetail job =
        JobBuilder.newJob(SendMail.class)
            .withIdentity("welcome", "mails")
            .usingJobData("to", "ada@example.org")
            .usingJobData("subject", "Welcome")
            .build();
    scheduler.scheduleJob(job, TriggerBuilder.newTrigger().startNow().build());
    scheduler.start();
    // endregion
    Mailer.expect(mail);
    // region new-start
    holdfast.enqueue(Job.of("send-mail", mail).concurrencyKey("send-mail", 1));
    Worker worker = holdfast.worker("default").handle("send-mail", Mail.class, this::send).start();
    // endregion
    try (worker) {
      Mailer.expect(mail);
    }
  }

  @Test
  void a_later_trigger_is_a_time_and_can_be_withdrawn() throws Exception {
    JobDetail job = detail("later");
    // region old-later
    scheduler.scheduleJob(job, TriggerBuilder.newTrigger().startAt(Date.from(tomorrow)).build());
    scheduler.deleteJob(job.getKey());
    // endregion
    assertThat(scheduler.checkExists(job.getKey())).isFalse();
    // region new-later
    Enqueued enqueued = holdfast.enqueue(Job.of("send-mail", mail).runAt(tomorrow));
    holdfast.cancel(enqueued.id(), "no longer wanted");
    // endregion
    assertThat(holdfast).enqueued("send-mail").inState(JobState.CANCELLED).once();
  }

  @Test
  void a_cron_trigger_is_a_schedule() throws Exception {
    JobDetail job = detail("nightly");
    // region old-cron
    scheduler.scheduleJob(
        job,
        TriggerBuilder.newTrigger()
            .withIdentity("nightly")
            .withSchedule(
                CronScheduleBuilder.cronSchedule("0 0 3 ? * MON-FRI")
                    .inTimeZone(TimeZone.getTimeZone("Europe/Berlin"))
                    .withMisfireHandlingInstructionDoNothing())
            .build());
    // endregion
    // region new-cron
    holdfast
        .admin()
        .schedule(
            Schedule.of(
                    "nightly",
                    "0 0 3 ? * MON-FRI",
                    ZoneId.of("Europe/Berlin"),
                    Job.of("send-mail", mail))
                .missedFires(MissedFires.SKIP)
                .withoutOverlap());
    // endregion
    assertThat(holdfast.admin().schedules())
        .extracting(ScheduleStatus::nextFireAt)
        .containsExactly(
            scheduler.getTriggersOfJob(job.getKey()).getFirst().getNextFireTime().toInstant());
  }

  @Test
  void what_is_scheduled_moves_over_once(TestTime time) throws Exception {
    JobDetail later = detail("later");
    scheduler.scheduleJob(later, TriggerBuilder.newTrigger().startAt(Date.from(tomorrow)).build());
    JobDetail nightly = detail("nightly");
    scheduler.scheduleJob(
        nightly,
        TriggerBuilder.newTrigger()
            .withIdentity("nightly")
            .withSchedule(CronScheduleBuilder.cronSchedule("0 0 3 L * ?"))
            .build());

    move();
    move();

    assertThat(scheduler.getJobKeys(GroupMatcher.jobGroupEquals("mails"))).isEmpty();
    assertThat(holdfast).enqueued("send-mail").inState(JobState.PENDING).once();
    assertThat(holdfast.admin().schedules())
        .extracting(status -> status.name() + " " + status.cron())
        .containsExactly("nightly 0 0 3 L * ?");
    var worker = holdfast.worker("default").handle("send-mail", Mail.class, this::send);
    holdfast.admin().removeSchedule("nightly");
    time.advance(Duration.ofHours(25), worker);
    Mailer.expect(mail);
  }

  // region move
  /** Run it while no scheduler runs; the keys make it safe to run it again. */
  void move() throws SchedulerException {
    for (JobKey key : scheduler.getJobKeys(GroupMatcher.jobGroupEquals("mails"))) {
      JobDataMap data = scheduler.getJobDetail(key).getJobDataMap();
      Job job = Job.of("send-mail", new Mail(data.getString("to"), data.getString("subject")));
      for (Trigger trigger : scheduler.getTriggersOfJob(key)) {
        if (trigger instanceof CronTrigger cron) {
          ZoneId zone = cron.getTimeZone().toZoneId();
          holdfast
              .admin()
              .schedule(Schedule.of(key.getName(), cron.getCronExpression(), zone, job));
        } else {
          Instant at = trigger.getNextFireTime().toInstant();
          holdfast.enqueue(job.uniqueKey(key.toString()).runAt(at));
        }
      }
      scheduler.deleteJob(key);
    }
  }
  // endregion
}
