package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.handler.Handler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ScratchTest extends WorkplaceTest {
  private static final Handler<Json> SUCCEEDS =
      (payload, context) -> Files.writeString(context.scratch().resolve("a"), "12345").toString();
  private static final Handler<Json> FAILS =
      (payload, context) -> {
        Files.writeString(context.scratch().resolve("a"), "12345");
        throw new IllegalStateException("failed");
      };

  private JobId ran(WorkerBuilder worker, Handler<Json> handler) {
    JobId id = enqueue(Job.of("write").maxAttempts(1));
    worker.handle("write", Json.class, handler).drain();
    return id;
  }

  @Test
  void is_deleted_after_success() {
    JobId id = ran(worker(), SUCCEEDS);
    await(id, JobState.SUCCEEDED);
    assertThat(scratchRoot().resolve(id.toString())).doesNotExist();
  }

  @Test
  void is_kept_after_success_when_configured() {
    JobId id = ran(worker().scratch(new Scratch(scratchRoot(), true)), SUCCEEDS);
    await(id, JobState.SUCCEEDED);
    assertThat(scratch(id, 1).resolve("a")).hasContent("12345");
  }

  @Test
  void is_kept_after_a_failure_and_its_size_is_logged() {
    try (CapturedLog log = new CapturedLog()) {
      JobId id = ran(worker(), FAILS);
      await(id, JobState.FAILED);
      assertThat(scratch(id, 1).resolve("a")).hasContent("12345");
      until(() -> !log.lines(Level.INFO, "is kept: 5 bytes").isEmpty());
    }
  }

  @Test
  void folders_of_failed_attempts_are_deleted_when_the_job_succeeds() {
    JobId id = enqueue(Job.of("write"));
    worker()
        .handle(
            "write",
            Json.class,
            AT_ONCE,
            (payload, context) ->
                context.lease().attempt() == 1
                    ? FAILS.handle(payload, context)
                    : SUCCEEDS.handle(payload, context))
        .drain();
    await(id, JobState.SUCCEEDED);
    assertThat(scratchRoot().resolve(id.toString())).doesNotExist();
  }

  @Test
  void is_deleted_after_a_snooze() {
    JobId id =
        ran(
            worker(),
            (payload, context) -> {
              Files.writeString(context.scratch().resolve("a"), "12345");
              throw context.snooze(Duration.ofHours(1));
            });
    assertThat(timeline(id)).endsWith("snoozed");
    until(() -> !Files.exists(scratchRoot().resolve(id.toString())));
  }

  @Test
  void is_not_created_unless_requested() {
    ran(worker(), (payload, context) -> null);
    assertThat(scratchRoot()).doesNotExist();
  }

  @Test
  void a_folder_that_cannot_be_created_is_a_retryable_failure() throws IOException {
    Files.writeString(scratchRoot(), "a file where the folder should be");
    JobId id = ran(worker(), SUCCEEDS);
    await(id, JobState.FAILED);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.INFRASTRUCTURE);
  }

  // ---- for operators

  @Test
  void lists_kept_folders_and_which_are_in_use() throws Exception {
    JobId failed = ran(worker(), FAILS);
    Files.createDirectories(scratchRoot().resolve("something else/1"));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    start(
        worker()
            .handle(
                "hold",
                Json.class,
                (payload, context) -> {
                  context.scratch();
                  begun.countDown();
                  goOn.await();
                  return null;
                }));
    JobId running = enqueue(Job.of("hold"));
    until(begun);
    Scratch scratch = new Scratch(scratchRoot(), false);
    assertThat(scratch.list())
        .extracting(Scratch.Kept::lease, Scratch.Kept::inUse)
        .containsExactlyInAnyOrder(
            tuple(new Lease(failed, 1), false), tuple(new Lease(running, 1), true));
    for (Scratch.Kept kept : scratch.list()) {
      assertThat(scratch.delete(kept)).isEqualTo(!kept.inUse());
    }
    assertThat(scratchRoot().resolve(failed.toString())).doesNotExist();
    assertThat(scratch(running, 1)).isDirectory();
    goOn.countDown();
    await(running, JobState.SUCCEEDED);
  }

  @Test
  void symbolic_links_in_it_are_deleted_and_not_followed() throws IOException {
    Path precious = Files.writeString(folder.resolve("precious"), "keep me");
    Path tree = Files.createDirectory(folder.resolve("tree"));
    Files.writeString(tree.resolve("file"), "keep me too");
    JobId id =
        ran(
            worker(),
            (payload, context) -> {
              Files.createSymbolicLink(context.scratch().resolve("file"), precious);
              Files.createSymbolicLink(context.scratch().resolve("tree"), tree);
              return null;
            });
    await(id, JobState.SUCCEEDED);
    assertThat(scratchRoot().resolve(id.toString())).doesNotExist();
    assertThat(precious).hasContent("keep me");
    assertThat(tree.resolve("file")).exists();
  }
}
