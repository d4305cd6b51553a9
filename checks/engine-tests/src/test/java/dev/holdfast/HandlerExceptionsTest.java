package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Handler;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HandlerExceptionsTest extends LibraryTest {
  /** An exception whose message throws. */
  private static final class HostileException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("none of your business");
    }
  }

  private static int recurse(int depth) {
    return depth < 0 ? depth : recurse(depth + 1) + 1;
  }

  private static final Map<String, Handler<Json>> FAILING =
      Map.of(
          "checked",
          (payload, context) -> {
            throw new IOException("disk on fire");
          },
          "unchecked",
          (payload, context) -> {
            throw new IllegalStateException("odd");
          },
          "stack-overflow",
          (payload, context) -> recurse(0),
          "out-of-memory",
          (payload, context) -> {
            throw new OutOfMemoryError("Java heap space");
          },
          "assertion",
          (payload, context) -> {
            throw new AssertionError("never");
          },
          "hostile",
          (payload, context) -> {
            throw new HostileException();
          },
          "nameless",
          (payload, context) -> {
            throw new RuntimeException() {
              private static final long serialVersionUID = 1L;
            };
          },
          "self-interrupting",
          (payload, context) -> {
            Thread.currentThread().interrupt();
            throw new InterruptedException("by itself");
          });

  @Test
  void whatever_a_handler_throws_fails_only_its_own_job() {
    Map<String, JobId> bad = new LinkedHashMap<>();
    FAILING
        .keySet()
        .forEach(kind -> bad.put(kind, enqueue(Job.of(kind).maxAttempts(1).priority(0))));
    List<JobId> good = IntStream.range(0, 50).mapToObj(i -> enqueue(Job.of("good"))).toList();
    WorkerBuilder builder =
        worker().concurrency(4).handle("good", Json.class, (payload, context) -> "fine");
    FAILING.forEach((kind, handler) -> builder.handle(kind, Json.class, handler));
    Worker worker = start(builder);
    good.forEach(id -> await(id, JobState.SUCCEEDED));
    bad.values().forEach(id -> await(id, JobState.FAILED));
    assertThat(bad.values())
        .allSatisfy(id -> assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED));
    Map<String, Failure> failures = new HashMap<>();
    bad.forEach((kind, id) -> failures.put(kind, failure(id)));
    assertThat(failures)
        .hasEntrySatisfying(
            "checked",
            failure -> {
              assertThat(failure.message()).contains("IOException: disk on fire");
              assertThat(failure.stackTrace()).contains("HandlerExceptionsTest");
            })
        .hasEntrySatisfying(
            "stack-overflow",
            failure -> assertThat(failure.message()).contains("StackOverflowError"))
        .hasEntrySatisfying(
            "hostile", failure -> assertThat(failure.message()).contains("HostileException"))
        .hasEntrySatisfying(
            "out-of-memory",
            failure -> assertThat(failure.category()).isEqualTo(FailureCategory.INFRASTRUCTURE));
    until(() -> worker.metrics().value("worker.inflight_jobs") == 0);
  }

  @Test
  void a_long_message_is_cut_and_a_nul_in_it_is_replaced() {
    JobId id = enqueue(Job.of("talkative").maxAttempts(1));
    worker()
        .handle(
            "talkative",
            Json.class,
            (payload, context) -> {
              throw new IllegalStateException("a\0b" + "x".repeat(100_000));
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).message()).contains("a\uFFFDb").hasSizeLessThan(10_000);
  }

  @Test
  void a_secret_in_an_exception_is_redacted() {
    JobId id = enqueue(Job.of("careless").maxAttempts(1));
    worker()
        .handle(
            "careless",
            Json.class,
            (payload, context) -> {
              throw new IllegalStateException("cannot reach db?password=hunter22");
            })
        .drain();
    assertThat(failure(id).message()).contains("cannot reach db?password=***");
    assertThat(failure(id).stackTrace()).contains("password=***").doesNotContain("hunter22");
  }

  @Test
  void a_secret_in_a_message_of_progress_is_redacted() {
    JobId id = enqueue(Job.of("talkative"));
    worker()
        .handle(
            "talkative",
            Json.class,
            (payload, context) -> {
              context.progress(50, "signing in with password=hunter22");
              return payload;
            })
        .drain();
    assertThat(job(id).progressMessage()).isEqualTo("signing in with password=***");
  }
}
