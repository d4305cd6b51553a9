package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.Handler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a handler must not ask for, or be told: each is refused, and the message says what. */
class BadWaitsTest extends LibraryTest {
  private static final Duration CENTURIES = Duration.ofDays(400 * 365);

  private record Contract(String number) {}

  private void handling(Handler<Json> handler) {
    start(
        worker()
            .handle("waits", Json.class, AT_ONCE, handler)
            .handle("no-result", (context) -> null));
  }

  private JobId job(Handler<Json> handler) {
    handling(handler);
    return enqueue(Job.of("waits").maxAttempts(1));
  }

  private Failure failureOf(Handler<Json> handler) {
    return failure(await(job(handler), JobState.FAILED).id());
  }

  private static void refuses(Refusal refusal, String why, Runnable code) {
    assertThatThrownBy(code::run)
        .isInstanceOfSatisfying(
            RefusedException.class, refused -> assertThat(refused.refusal()).isEqualTo(refusal))
        .hasMessageContaining(why);
  }

  @Test
  void times_are_bounded_and_names_are_words() {
    JobId id =
        job(
            (payload, context) -> {
              for (Duration bad : List.of(Duration.ofMillis(-1), CENTURIES)) {
                refuses(Refusal.BAD_DELAY, "sleep 'nap'", () -> context.sleep("nap", bad));
                refuses(
                    Refusal.BAD_DELAY,
                    "timeout of 'go'",
                    () -> context.await("go", String.class, bad));
                refuses(Refusal.BAD_DELAY, "within", () -> Question.of("?").within(bad));
              }
              refuses(
                  Refusal.BAD_TIMING,
                  "sleep 'nap' until",
                  () -> context.sleepUntil("nap", Instant.MAX));
              refuses(Refusal.BAD_NAME, "step", () -> context.sleep("a\nb", Duration.ZERO));
              refuses(Refusal.BAD_NAME, "step", () -> context.await("a\nb", String.class));
              refuses(Refusal.BAD_NAME, "step", () -> context.spawn("a\nb", Job.of("no-result")));
              refuses(Refusal.BAD_REASON, "question", () -> Question.of(""));
              return "none of them was waited for";
            });
    await(id, JobState.SUCCEEDED);
    assertThat(job(id).attempt()).isEqualTo(1);
  }

  @Test
  void a_moment_that_has_passed_is_no_wait() {
    JobId id =
        job(
            (payload, context) -> {
              context.sleepUntil("nap", Instant.EPOCH);
              return null;
            });
    await(id, JobState.SUCCEEDED);
    assertThat(job(id).attempt()).isEqualTo(1);
  }

  @Test
  void a_signal_must_have_a_name_and_fit() {
    JobId id = enqueue(Job.of("waits"));
    refuses(Refusal.BAD_NAME, "signal", () -> holdfast.signal(id, "a\nb", "x"));
    refuses(
        Refusal.PAYLOAD_TOO_LARGE, "payload", () -> holdfast.signal(id, "go", "x".repeat(2 << 20)));
    refuses(
        Refusal.BAD_KEY,
        "signal key",
        () -> {
          SignalToJob unused = new SignalToJob("go", Json.EMPTY, "k".repeat(300), "ada");
        });
    assertThat(db.count("SELECT count(*) FROM holdfast.signal")).isZero();
  }

  @Test
  void more_ids_than_a_job_may_have_fail_it() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              for (int i = 1; i <= 1_001; i++) {
                context.sleep("nap-" + i, Duration.ZERO);
              }
              return null;
            });
    assertThat(failure.message()).contains("'nap-1001' is one too many").contains("at most 1,000");
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_signal_that_does_not_fit_fails_the_job_for_good_and_is_kept_for_its_retry() {
    handling((payload, context) -> context.await("contract", Contract.class).number());
    for (String bad : List.of("\"C-17\"", "null", "[]", "7")) {
      JobId id = enqueue(Job.of("waits").maxAttempts(5));
      holdfast.signal(id, "contract", new Json(bad));
      await(id, JobState.FAILED);
      assertThat(failure(id).code()).isEqualTo(Failure.VALIDATION);
      assertThat(failure(id).message()).contains("'contract'").contains("no Contract");
      assertThat(attempts(id)).containsOnlyOnce(AttemptOutcome.FAILED);
      holdfast.jobs().retry(List.of(id), Tenant.ANY);
      await(id, JobState.FAILED);
    }
  }

  @Test
  void a_child_without_a_result_has_none_to_return() {
    Failure failure =
        failureOf(
            (payload, context) ->
                context.map("all", List.of(1), n -> Job.of("no-result"), Integer.class));
    assertThat(failure.code()).isEqualTo(Failure.VALIDATION);
    assertThat(failure.message()).contains("'all'").contains("there is none");
  }

  @Test
  void a_child_has_an_id_of_its_own_whatever_it_was_given() {
    JobId id =
        job(
            (payload, context) -> {
              Child child = context.spawn("self", Job.of("no-result").id(context.id()));
              return context.join("all", List.of(child)).getFirst().job().toString();
            });
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isNotEqualTo('"' + id.toString() + '"');
  }

  @Test
  void a_job_waits_for_its_own_children_only() {
    JobId other = enqueue(Job.of("elsewhere").queue("nobody"));
    JobId id =
        job(
            (payload, context) -> {
              for (JobId stranger : List.of(context.id(), other)) {
                assertThatThrownBy(
                        () ->
                            context.join("w-" + stranger, List.of(new Child(stranger, "unknown"))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'unknown'");
              }
              assertThatThrownBy(() -> context.any("none", List.of()))
                  .isInstanceOf(RefusedException.class)
                  .hasMessageContaining("'none'");
              return context.join("nothing", List.of()).size();
            });
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("0");
  }

  @Test
  void of_children_that_are_not_all_valid_none_is_started() {
    JobId id =
        job(
            (payload, context) -> {
              List<Job> jobs =
                  new ArrayList<>(Collections.nCopies(1_500, Job.of("no-result").queue("nobody")));
              jobs.add(Job.of("no-result").uniqueKey("k"));
              refuses(Refusal.BAD_UNIQUE, "'many'", () -> context.spawn("many", jobs));
              List<Job> tooMany = Collections.nCopies(100_001, Job.of("no-result"));
              refuses(Refusal.BAD_LIMIT, "100,000", () -> context.spawn("more", tooMany));
              return null;
            });
    await(id, JobState.SUCCEEDED);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(1);
  }

  @Test
  void a_child_has_no_unique_key_and_no_dependencies() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              Object unused = context.spawn("one", Job.of("no-result").uniqueKey("k"));
              return null;
            });
    assertThat(failure.message()).contains("'one'").contains("no unique key");
  }
}
