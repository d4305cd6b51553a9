package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What docs/guides/durable.md says of handlers that are changed while their jobs wait: a job begins
 * with one handler, and another one goes on.
 */
@ExtendWith(HoldfastExtension.class)
class ChangesTest {
  private static final Duration DAY = Duration.ofDays(1);

  private final List<String> done = new CopyOnWriteArrayList<>();
  private Holdfast holdfast;
  private TestTime time;

  private record Total(int cents) {}

  private record TotalWithTax(int cents, int tax) {}

  private record TotalWithNote(int cents, @Nullable String note) {}

  @BeforeEach
  void open(Holdfast holdfast, TestTime time) {
    this.holdfast = holdfast;
    this.time = time;
  }

  private void step(JobContext context, String id) {
    context.step(id, () -> done.add(id));
  }

  private void passing(Duration passed, Handler<Json> handler) {
    time.advance(
        passed,
        holdfast
            .worker("default")
            .handle("changing", Json.class, RetryPolicy.NONE, handler)
            .handle("child", Integer.class, (number, context) -> number * 2));
  }

  /** A job that waits with this handler. */
  private JobId begun(Handler<Json> before) {
    JobId job = holdfast.enqueue(Job.of("changing").maxAttempts(1)).id();
    passing(Duration.ZERO, before);
    assertThat(state(job)).isEqualTo(JobState.WAITING);
    return job;
  }

  private JobState state(JobId job) {
    return holdfast.find(job).orElseThrow().state();
  }

  private Failure failure(JobId job) {
    assertThat(state(job)).isEqualTo(JobState.FAILED);
    return Objects.requireNonNull(holdfast.find(job).orElseThrow().failure());
  }

  private void goesOn(JobId job, Handler<Json> after) {
    passing(DAY, after);
    assertThat(state(job)).as("%s", holdfast.find(job)).isEqualTo(JobState.SUCCEEDED);
  }

  // ---- safe

  @Test
  void a_step_that_is_added_runs_even_if_it_stands_before_what_is_done() {
    JobId job =
        begun(
            (payload, context) -> {
              step(context, "one");
              context.sleep("pause", DAY);
              step(context, "two");
              return null;
            });
    goesOn(
        job,
        (payload, context) -> {
          step(context, "zero");
          step(context, "one");
          context.sleep("pause", DAY);
          step(context, "one-and-a-half");
          step(context, "two");
          return null;
        });
    assertThat(done).containsExactly("one", "zero", "one-and-a-half", "two");
  }

  @Test
  void a_step_that_is_removed_is_not_missed_and_not_undone() {
    JobId job =
        begun(
            (payload, context) -> {
              step(context, "one");
              context.sleep("pause", DAY);
              step(context, "two");
              return null;
            });
    goesOn(job, (payload, context) -> null);
    assertThat(done).containsExactly("one");
    assertThat(holdfast.queries().steps(job)).extracting("id").contains("one", "pause");
  }

  @Test
  void what_is_done_may_be_asked_for_in_another_order() {
    JobId job =
        begun(
            (payload, context) -> {
              step(context, "one");
              step(context, "two");
              context.sleep("pause", DAY);
              return null;
            });
    goesOn(
        job,
        (payload, context) -> {
          context.sleep("pause", DAY);
          step(context, "two");
          step(context, "one");
          return null;
        });
    assertThat(done).containsExactly("one", "two");
  }

  @Test
  void a_wait_that_has_begun_keeps_its_time() {
    JobId job =
        begun(
            (payload, context) -> {
              context.sleep("pause", DAY);
              return null;
            });
    goesOn(
        job,
        (payload, context) -> {
          context.sleep("pause", Duration.ofDays(100));
          return null;
        });
  }

  @Test
  void a_question_that_is_asked_stays_as_it_was_asked() {
    JobId job =
        begun((payload, context) -> context.approve("ask", Question.of("Old?").within(DAY)).by());
    assertThat(
            holdfast
                .jobs()
                .decide(job, "ask", new Decision(true, "ada", ""), Role.OPERATOR, Tenant.ANY))
        .isEqualTo(Decision.Answer.ACCEPTED);
    goesOn(job, (payload, context) -> context.approve("ask", Question.of("New?")).by());
    assertThat(holdfast.result(job, String.class)).contains("ada");
  }

  // ---- another id is another step

  @Test
  void a_step_with_another_id_is_done_again() {
    JobId job =
        begun(
            (payload, context) -> {
              context.step("mail", () -> done.add("mail"));
              context.sleep("pause", DAY);
              return null;
            });
    goesOn(
        job,
        (payload, context) -> {
          context.step("send-mail", () -> done.add("mail"));
          context.sleep("pause", DAY);
          return null;
        });
    assertThat(done).containsExactly("mail", "mail");
  }

  @Test
  void a_wait_with_another_id_is_waited_for_again() {
    JobId slept =
        begun(
            (payload, context) -> {
              context.sleep("pause", DAY);
              return null;
            });
    JobId told =
        begun(
            (payload, context) -> context.await("first", "go", PayloadType.of(String.class), null));
    holdfast.signal(told, "go", "one");
    Handler<Json> after =
        (payload, context) -> {
          if (context.id().equals(slept)) {
            context.sleep("longer-pause", DAY);
            return null;
          }
          return context.await("second", "go", PayloadType.of(String.class), null).orElseThrow();
        };
    passing(DAY, after);
    assertThat(state(slept)).isEqualTo(JobState.WAITING);
    assertThat(state(told)).isEqualTo(JobState.WAITING);
    holdfast.signal(told, "go", "two");
    goesOn(slept, after);
    assertThat(holdfast.result(told, String.class)).contains("two");
  }

  @Test
  void jobs_started_under_another_id_are_started_again() {
    JobId job =
        begun(
            (payload, context) -> {
              Object unused = context.spawn("children", Job.of("child", 1));
              context.sleep("pause", DAY);
              return null;
            });
    goesOn(
        job,
        (payload, context) ->
            context.map("others", List.of(1), n -> Job.of("child", n), Integer.class));
    assertThat(holdfast.queries().list(JobFilter.ALL.kind("child"))).hasSize(2);
  }

  // ---- refused, with a reason

  private JobId withResult(Object result) {
    return begun(
        (payload, context) -> {
          Object unused = context.step("total", Object.class, () -> result);
          context.sleep("pause", DAY);
          return null;
        });
  }

  private static <T> Handler<Json> reading(Class<T> type) {
    return (payload, context) -> {
      T total = context.step("total", type, () -> null);
      context.sleep("pause", DAY);
      return String.valueOf(total);
    };
  }

  @Test
  void a_result_that_does_not_fit_its_new_type_fails_the_job_and_a_fix_goes_on() {
    JobId job = withResult(new Total(42));
    passing(DAY, reading(Integer.class));
    assertThat(failure(job).category()).isEqualTo(FailureCategory.DATA_QUALITY);
    assertThat(failure(job).message()).contains("'total'").contains("is no Integer");
    holdfast.jobs().retry(List.of(job), Tenant.ANY);
    goesOn(job, reading(Total.class));
    assertThat(holdfast.result(job, String.class)).contains("Total[cents=42]");
  }

  @Test
  void a_number_that_a_result_has_not_is_refused_and_anything_else_is_null() {
    JobId number = withResult(new Total(42));
    passing(DAY, reading(TotalWithTax.class));
    assertThat(failure(number).message()).contains("step 'total'").contains("at 'tax'");
    JobId text = withResult(new Total(42));
    goesOn(text, reading(TotalWithNote.class));
    assertThat(holdfast.result(text, String.class)).contains("TotalWithNote[cents=42, note=null]");
    JobId less = withResult(new TotalWithNote(42, "so"));
    goesOn(less, reading(Total.class));
  }

  @Test
  void a_result_of_a_step_that_had_none_is_refused_and_one_that_was_null_is_null() {
    JobId without =
        begun(
            (payload, context) -> {
              step(context, "total");
              context.sleep("pause", DAY);
              return null;
            });
    passing(DAY, reading(Total.class));
    assertThat(failure(without).category()).isEqualTo(FailureCategory.DATA_QUALITY);
    assertThat(failure(without).message()).contains("'total'").contains("it had no result");
    JobId none = withNull();
    goesOn(none, reading(Total.class));
    assertThat(holdfast.result(none, String.class)).contains("null");
    JobId noLonger = withResult(new Total(42));
    goesOn(
        noLonger,
        (payload, context) -> {
          step(context, "total");
          context.sleep("pause", DAY);
          return null;
        });
  }

  private JobId withNull() {
    return begun(
        (payload, context) -> {
          Object unused = context.step("total", Total.class, () -> null);
          context.sleep("pause", DAY);
          return null;
        });
  }

  @Test
  void an_id_stays_a_step_or_the_sort_of_wait_that_it_was() {
    Handler<Json> before =
        (payload, context) -> {
          step(context, "step");
          Object unused = context.spawn("start", Job.of("child", 1));
          context.sleep("pause", DAY);
          return null;
        };
    JobId sleepsNow = begun(before);
    passing(
        DAY,
        (payload, context) -> {
          context.sleep("step", DAY);
          return null;
        });
    assertThat(failure(sleepsNow).message()).contains("'step' was a step before");
    JobId isDoneNow = begun(before);
    passing(
        DAY,
        (payload, context) -> {
          step(context, "pause");
          return null;
        });
    assertThat(failure(isDoneNow).message()).contains("'pause' was a wait before");
    JobId startsMore = begun(before);
    passing(
        DAY,
        (payload, context) ->
            context.spawn("start", List.of(Job.of("child", 1), Job.of("child", 2))).size());
    assertThat(failure(startsMore).message()).contains("'start' has started 1 jobs");
  }
}
