package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.queue.JobStore;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RunningTest extends LibraryTest {
  record Address(String name, String domain) {}

  record Mail(Address to, List<String> lines, int priority, @Nullable String sender) {}

  record Receipt(String number, int lines) {}

  @Test
  void a_job_runs_and_everything_about_it_can_be_read() {
    Mail mail = new Mail(new Address("ada", "example.org"), List.of("Dear", "Ada ☕"), 3, null);
    JobId id = enqueue(Job.of("send-mail", mail).queue("mail"));
    List<Mail> received = new ArrayList<>();
    Worker worker =
        start(
            worker("mail")
                .handle(
                    "send-mail",
                    Mail.class,
                    (payload, context) -> {
                      received.add(payload);
                      context.progress(50, "half way");
                      return new Receipt("r-1", payload.lines().size());
                    }));
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(received).containsExactly(mail);
    assertThat(new JacksonCodec().decode(new Json(result(id)), Receipt.class))
        .isEqualTo(new Receipt("r-1", 2));
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.progress()).isEqualTo(50);
    assertThat(job.progressMessage()).isEqualTo("half way");
    assertThat(job.worker()).isEqualTo(worker.name()).startsWith("worker:mail:0@");
    assertThat(job.failure()).isNull();
    assertThat(job.startedAt()).isNotNull();
    assertThat(job.finishedAt()).isAfterOrEqualTo(job.startedAt());
    assertThat(timeline(id)).containsExactly("created", "processing", "progress", "done");
    assertThat(attempts(id)).containsExactly(AttemptOutcome.SUCCEEDED);
  }

  @Test
  void a_handler_reads_the_attributes_of_its_job() {
    String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    JobId id =
        enqueue(
            Job.of("ingest")
                .assetId("orders")
                .partitionKey("2026-11-17")
                .resources(Map.of("cpu", 2))
                .traceparent(trace));
    start(worker().handle("ingest", Json.class, (payload, context) -> context.job().attributes()));
    await(id, JobState.SUCCEEDED);
    JobAttributes read = new JacksonCodec().decode(new Json(result(id)), JobAttributes.class);
    assertThat(read)
        .isEqualTo(
            new JobAttributes("orders", "2026-11-17", new Json("{\"cpu\":2}"), trace, List.of()));
  }

  @Test
  void a_running_job_shows_its_worker() {
    CountDownLatch goOn = new CountDownLatch(1);
    JobId id = enqueue(Job.of("wait"));
    Worker worker =
        start(
            worker()
                .handle(
                    "wait",
                    Json.class,
                    (payload, context) -> {
                      goOn.await();
                      return null;
                    }));
    JobStatus job = await(id, JobState.RUNNING);
    assertThat(job.worker()).isEqualTo(worker.name());
    assertThat(job.heartbeatAt()).isNotNull();
    assertThat(job.leaseExpiresAt()).isAfter(job.heartbeatAt());
    goOn.countDown();
    assertThat(await(id, JobState.SUCCEEDED).result()).isNull();
  }

  @Test
  void a_payload_may_be_a_list_of_records() {
    JobId id =
        holdfast.enqueue(Job.of("count", List.of(new Receipt("a", 1), new Receipt("b", 2)))).id();
    start(
        worker()
            .handle(
                "count",
                new PayloadType<List<Receipt>>() {},
                (receipts, context) -> receipts.getLast().equals(new Receipt("b", 2))));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("true");
  }

  @Test
  void the_codec_can_be_replaced() {
    Codec semicolons =
        new Codec() {
          @Override
          public Json encode(Object value) {
            return new Json("{\"text\": \"" + value + "\"}");
          }

          @Override
          public <T> T decode(Json json, Class<T> type) {
            return type.cast(json.text().replaceAll(".*: ?\"|\"}", ""));
          }
        };
    Holdfast library = closing(Holdfast.on(db.dataSource(), semicolons, JobStore.Options.DEFAULT));
    JobId id = library.enqueue(Job.of("shout", "hello")).id();
    start(workerOf(library).handle("shout", String.class, (text, context) -> text + "!"));
    await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("{\"text\": \"hello!\"}");
  }

  @Test
  void a_job_of_an_unknown_kind_is_snoozed_until_a_worker_handles_it() {
    JobId id = enqueue(Job.of("new").maxAttempts(1));
    Worker old = start(worker().handle("old", Json.class, (payload, context) -> null));
    Awaitility.await().atMost(SOON).until(() -> attempts(id).contains(AttemptOutcome.SNOOZED));
    assertThat(timeline(id)).as("why it does not run").contains("kind:unknown");
    // It might be the first at each new try, and these are ever longer apart.
    old.close();
    start(worker().handle("new", Json.class, (payload, context) -> "known"));
    await(id, JobState.SUCCEEDED);
    assertThat(job(id).failures()).isZero();
  }

  @Test
  void a_kind_without_a_handler_fails_with_that_reason() {
    JobId id = enqueue(Job.of("unheard-of"));
    start(
        worker()
            .unknownKinds(Duration.ZERO)
            .handle("heard-of", Json.class, (payload, context) -> null));
    JobStatus job = await(id, JobState.FAILED);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.CONFIGURATION);
    assertThat(failure(id).code()).isEqualTo(Failure.NO_HANDLER);
    assertThat(failure(id).message()).contains("unheard-of");
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.failures()).isZero();
  }

  @Test
  void a_payload_of_the_wrong_type_fails_without_a_retry() {
    JobId id = enqueue(Job.of("send-mail", Map.of("to", 3, "priority", "high")));
    start(worker().handle("send-mail", Mail.class, (mail, context) -> null));
    JobStatus job = await(id, JobState.FAILED);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.DATA_QUALITY);
    assertThat(failure(id).code()).isEqualTo(Failure.VALIDATION);
    assertThat(failure(id).message()).startsWith("the payload is no Mail: ");
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.failures()).isZero();
  }

  @Test
  void results_that_cannot_be_stored_fail_their_own_jobs_and_no_other() {
    CyclicBarrier together = new CyclicBarrier(22);
    JobId odd = enqueue(Job.of("odd"));
    JobId large = enqueue(Job.of("large"));
    List<JobId> fine = IntStream.range(0, 20).mapToObj(i -> enqueue(Job.of("fine"))).toList();
    start(
        worker()
            .concurrency(22)
            .handle(
                "odd",
                Json.class,
                (payload, context) -> {
                  together.await();
                  return Map.of("text", "a\0b");
                })
            .handle(
                "large",
                Json.class,
                (payload, context) -> {
                  together.await();
                  return "x".repeat(Limits.RESULT_BYTES);
                })
            .handle(
                "fine",
                Json.class,
                (payload, context) -> {
                  together.await();
                  return "fine";
                }));
    fine.forEach(id -> await(id, JobState.SUCCEEDED));
    assertThat(await(odd, JobState.FAILED).failures()).isZero();
    assertThat(failure(odd).code()).isEqualTo("RESULT_NOT_JSON");
    assertThat(await(large, JobState.FAILED).failures()).isZero();
    assertThat(failure(large).code()).isEqualTo("RESULT_TOO_LARGE");
    assertThat(attempts(odd)).containsExactly(AttemptOutcome.FAILED);
  }

  @Test
  void a_result_that_is_not_json_fails_without_a_retry() {
    JobId id = enqueue(Job.of("stream"));
    start(worker().handle("stream", Json.class, (payload, context) -> new Object()));
    assertThat(await(id, JobState.FAILED).attempt()).isEqualTo(1);
    assertThat(failure(id).code()).isEqualTo("RESULT_NOT_JSON");
  }

  @Test
  void enqueueing_the_same_job_twice_runs_it_once() {
    Job job = Job.of("once");
    assertThat(holdfast.enqueue(job)).isEqualTo(holdfast.enqueue(job));
    List<JobId> runs = new ArrayList<>();
    worker().handle("once", Json.class, (payload, context) -> runs.add(context.id())).drain();
    assertThat(runs).containsExactly(job.id());
  }

  @Test
  void a_handler_may_enqueue_in_its_own_transaction() throws Exception {
    JobId first = enqueue(Job.of("first"));
    JobId kept = JobId.next();
    JobId dropped = JobId.next();
    worker()
        .handle(
            "first",
            Json.class,
            (payload, context) -> {
              try (Connection connection = db.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                holdfast.enqueue(connection, Job.of("second").id(kept));
                connection.commit();
                holdfast.enqueue(connection, List.of(Job.of("second").id(dropped)));
                connection.rollback();
              }
              return null;
            })
        .handle("second", Json.class, (payload, context) -> "ran")
        .drain();
    assertThat(job(first).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job(kept).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(holdfast.find(dropped)).isEmpty();
  }
}
