package guide;

import static dev.holdfast.test.HoldfastAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.value.Json;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The module holdfast-test, as a service uses it. */
// region extension
@ExtendWith(HoldfastExtension.class)
class TestingTest {
  @Test
  void a_user_who_signs_up_gets_one_mail(Holdfast holdfast) {
    new SignUp(holdfast).signUp("ada@example.org");

    assertThat(holdfast).enqueued("send-mail").inQueue("mail").once();
    assertThat(holdfast)
        .enqueued("send-mail")
        .withPayload(Mail.class, mail -> mail.to().equals("ada@example.org"))
        .once();
    assertThat(holdfast).enqueued("send-invoice").never();
  }

  // endregion

  // region time
  @Test
  void a_reminder_is_sent_after_a_week_and_a_report_every_night(Holdfast holdfast, TestTime time) {
    SignUp service = new SignUp(holdfast);
    service.remind("ada@example.org", Duration.ofDays(7));
    holdfast
        .admin()
        .schedule(
            Schedule.of("nightly", "0 3 * * *", ZoneId.of("Europe/Berlin"), Job.of("report")));

    time.advance(Duration.ofDays(6), service.worker());
    assertThat(holdfast).enqueued("send-mail").inState(JobState.PENDING).once();
    assertThat(holdfast).enqueued("report").inState(JobState.SUCCEEDED).times(6);

    time.advance(Duration.ofDays(2), service.worker());
    assertThat(holdfast).enqueued("send-mail").inState(JobState.SUCCEEDED).once();
  }

  // endregion

  // region crash
  @Test
  void an_order_survives_that_its_worker_is_killed(Holdfast holdfast) {
    Shop shop = new Shop(holdfast);
    assertThat(holdfast)
        .running(shop.worker())
        .counting("mails", () -> shop.mails.size())
        .answering((job, wait) -> holdfast.signal(job, "paid", "receipt 7"))
        .survivesACrashAfterEveryStep(Job.of("order", "tea"));
  }

  // endregion

  /** A durable handler. */
  private record Shop(Holdfast holdfast, List<String> mails) {
    Shop(Holdfast holdfast) {
      this(holdfast, new CopyOnWriteArrayList<>());
    }

    WorkerBuilder worker() {
      return holdfast.worker("default").handle("order", String.class, this::order);
    }

    private Object order(String what, JobContext context) {
      context.step("ask", () -> mails.add("Please pay for " + what));
      String receipt = context.await("paid", String.class);
      context.step("thank", () -> mails.add("Thank you: " + receipt));
      return receipt;
    }
  }

  /** A small service. */
  private static final class SignUp {
    private final Holdfast holdfast;
    private final List<String> ran = new CopyOnWriteArrayList<>();

    SignUp(Holdfast holdfast) {
      this.holdfast = holdfast;
    }

    void signUp(String to) {
      holdfast.enqueue(Job.of("send-mail", new Mail(to, "Welcome")).queue("mail"));
    }

    void remind(String to, Duration after) {
      holdfast.enqueue(Job.of("send-mail", new Mail(to, "Still there?")).delay(after));
    }

    WorkerBuilder worker() {
      return holdfast
          .worker("default", "mail")
          .handle("send-mail", Mail.class, (mail, context) -> ran.add(mail.subject()))
          .handle("report", Json.class, (payload, context) -> ran.add("report"))
          .handle(
              "flaky",
              Json.class,
              (payload, context) -> {
                ran.add("flaky " + context.lease().attempt());
                if (context.lease().attempt() < 3) {
                  throw new IllegalStateException("not yet");
                }
                return null;
              })
          .handle(
              "again",
              Integer.class,
              (left, context) -> {
                ran.add("again " + left);
                if (left > 0) {
                  holdfast.enqueue(Job.of("again", left - 1).delay(Duration.ofMinutes(10)));
                }
                return null;
              });
    }
  }

  @Test
  void every_test_has_an_empty_database(Holdfast holdfast) {
    assertThat(holdfast).enqueued("send-mail").never();
    assertThat(holdfast).enqueued("report").never();
  }

  @Test
  void jobs_that_come_due_run_in_due_order(Holdfast holdfast, TestTime time) {
    SignUp service = new SignUp(holdfast);
    service.remind("second", Duration.ofHours(2));
    holdfast.enqueue(Job.of("again", 3).delay(Duration.ofMinutes(105)));
    holdfast.enqueue(Job.of("report").delay(Duration.ofDays(1)));

    time.advance(Duration.ofHours(3), service.worker());

    // At 105, 115, 120, 125 and 135 minutes.
    assertThat(service.ran)
        .containsExactly("again 3", "again 2", "Still there?", "again 1", "again 0");
    assertThat(holdfast).enqueued("report").inState(JobState.PENDING).once();
  }

  @Test
  void retries_run_after_their_delay(Holdfast holdfast, TestTime time) {
    SignUp service = new SignUp(holdfast);
    JobId id = holdfast.enqueue(Job.of("flaky")).id();
    service.worker().drain();
    assertThat(service.ran).containsExactly("flaky 1");

    time.advance(Duration.ofMinutes(5), service.worker());

    assertThat(service.ran).containsExactly("flaky 1", "flaky 2", "flaky 3");
    assertThat(holdfast.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void advancing_time_passes_deadlines_and_unique_windows(Holdfast holdfast, TestTime time) {
    Job late = Job.of("unknown").queue("nobody").deadline(time.now().plus(Duration.ofHours(1)));
    holdfast.enqueue(late);
    Unique hourly = Unique.by("report").in(Set.of(JobState.values())).within(Duration.ofHours(1));
    holdfast.enqueue(Job.of("report").unique(hourly));
    SignUp service = new SignUp(holdfast);
    service.worker().drain();
    assertThat(holdfast.enqueue(Job.of("report").unique(hourly)).duplicate()).isTrue();

    time.advance(Duration.ofHours(2), service.worker());

    assertThat(holdfast.enqueue(Job.of("report").unique(hourly)).duplicate()).isFalse();
    assertThat(holdfast.find(late.id()).orElseThrow().state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void schedules_follow_their_cron_however_far_time_is_advanced(Holdfast holdfast, TestTime time) {
    SignUp service = new SignUp(holdfast);
    holdfast
        .admin()
        .schedule(Schedule.of("monthly", "0 0 1 * *", ZoneOffset.UTC, Job.of("report")));
    Instant until = time.now().plus(Duration.ofDays(100));

    time.runDueUntil(until, service.worker());

    assertThat(service.ran).hasSizeBetween(3, 4);
    assertThat(time.now()).isBetween(until, until.plus(Duration.ofMinutes(5)));
    assertThat(holdfast.admin().schedules().getFirst().nextFireAt().atOffset(ZoneOffset.UTC))
        .satisfies(next -> assertThat(next.getDayOfMonth()).isEqualTo(1))
        .satisfies(next -> assertThat(next.toInstant()).isAfter(until));
  }

  @Test
  void time_cannot_be_moved_back(Holdfast holdfast, TestTime time) {
    assertThatThrownBy(() -> time.advance(Duration.ofSeconds(-1), () -> {}))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_failed_assertion_lists_the_jobs_that_exist(Holdfast holdfast) {
    new SignUp(holdfast).signUp("ada@example.org");
    assertThatThrownBy(() -> assertThat(holdfast).enqueued("send-mail").inQueue("other").once())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(
            "expected 1 job(s) of kind 'send-mail' in queue 'other', but there are 0")
        .hasMessageContaining("PENDING in queue 'mail'")
        .hasMessageContaining("ada@example.org");
    assertThatThrownBy(() -> assertThat(holdfast).enqueued("send-mail").never())
        .isInstanceOf(AssertionError.class);
    assertThat(holdfast)
        .enqueued("send-mail")
        .withPayload(new Mail("ada@example.org", "Welcome"))
        .once();
    assertThat(holdfast)
        .enqueued("send-mail")
        .withPayload(new Mail("bob@example.org", "Welcome"))
        .never();
  }
}
