package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.LeaseLostException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArtifactTest extends WorkplaceTest {
  private final AtomicInteger runs = new AtomicInteger();

  private static Path written(JobContext context, String text) throws IOException {
    return Files.writeString(context.scratch().resolve("file"), text);
  }

  /** Publishes, and then fails the given number of times. */
  private Kind<Json> failing(int times) {
    return Kind.of(
            "make",
            Json.class,
            (payload, context) -> {
              context.publish(
                  Map.of("out.txt", written(context, "run " + runs.incrementAndGet())),
                  Map.of("made", runs.get()));
              if (runs.get() <= times) {
                throw new IllegalStateException("after publication");
              }
              return Map.of("made", runs.get());
            })
        .retry(AT_ONCE);
  }

  @Test
  void is_published_whole_with_its_metadata_and_an_event() throws IOException {
    JobId id = enqueued("make", Map.of());
    worker().handle(failing(0)).drain();
    await(id, JobState.SUCCEEDED);
    assertThat(artifact(id, "out.txt")).hasContent("run 1");
    assertThat(holdfast.queries().artifacts(id))
        .singleElement()
        .satisfies(
            published -> {
              assertThat(published.artifact().size()).isEqualTo(5);
              assertThat(published.artifact().sha256())
                  .isEqualTo("b945d8cb026e35c608337842110ea5e87d6fa88af28b59fc2bec4292be849e2e");
              assertThat(published.attempt()).isEqualTo(1);
            });
    assertThat(timeline(id)).containsExactly("created", "processing", "uploaded", "done");
    assertThat(files(folder)).containsExactly("results/.store", "results/" + id + "/out.txt");
  }

  @Test
  void progress_events_come_before_the_publication() {
    JobId id = enqueued("make", Map.of());
    worker()
        .handle(
            "make",
            Json.class,
            (payload, context) -> {
              context.progress(10);
              context.progress(100);
              return context.publish("out.txt", written(context, "x"));
            })
        .drain();
    assertThat(timeline(id))
        .startsWith("created", "processing", "progress")
        .endsWith("uploaded", "done");
  }

  // ---- a retry

  @Test
  void a_retry_that_finds_it_complete_does_not_run_the_handler() {
    JobId id = enqueued("make", Map.of());
    worker().handle(failing(1).producing("out.txt")).drain();
    await(id, JobState.SUCCEEDED);
    assertThat(runs).hasValue(1);
    assertThat(result(id)).isEqualTo("{\"made\": 1}");
    assertThat(timeline(id))
        .containsExactly(
            "created", "processing", "uploaded", "retry:scheduled", "processing", "done");
    assertThat(artifact(id, "out.txt")).hasContent("run 1");
  }

  @Test
  void a_job_resumed_from_a_step_runs_again_though_its_artifact_is_complete() {
    JobId id = enqueued("make", Map.of());
    Kind<Json> inAStep =
        Kind.of(
                "make",
                Json.class,
                (payload, context) ->
                    context.step(
                        "write",
                        Integer.class,
                        () -> {
                          int run = runs.incrementAndGet();
                          context.publish("out.txt", written(context, "run " + run));
                          return run;
                        }))
            .producing("out.txt");
    worker().handle(inAStep).drain();
    await(id, JobState.SUCCEEDED);
    JobCommand again =
        new JobCommand(CommandAction.RESUME_FROM_STEP, "write", "ada", "it is too small");
    assertThat(holdfast.jobs().command(id, again, Tenant.ANY).answer())
        .isEqualTo(JobCommand.Answer.ACCEPTED);
    worker().handle(inAStep).drain();
    await(id, JobState.SUCCEEDED);
    assertThat(artifact(id, "out.txt")).hasContent("run 2");
    assertThat(result(id)).isEqualTo("2");
  }

  @Test
  void a_retry_of_a_kind_without_declared_artifacts_runs_again_and_replaces_it() {
    JobId id = enqueued("make", Map.of());
    worker().handle(failing(1)).drain();
    await(id, JobState.SUCCEEDED);
    assertThat(artifact(id, "out.txt")).hasContent("run 2");
    assertThat(holdfast.queries().artifacts(id).getFirst().attempt()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"changed", "gone", "longer"})
  void a_retry_that_finds_it_damaged_runs_again(String damage) {
    JobId id = enqueued("make", Map.of());
    worker()
        .handle(
            Kind.of(
                    "make",
                    Json.class,
                    (payload, context) -> {
                      context.publish(
                          Map.of("out.txt", written(context, "run " + runs.incrementAndGet())),
                          null);
                      Path file = artifact(context.id(), "out.txt");
                      if (runs.get() == 1) {
                        switch (damage) {
                          case "changed" -> Files.writeString(file, "ran 1");
                          case "longer" -> Files.writeString(file, "run 1 ");
                          default -> Files.delete(file);
                        }
                        throw new IllegalStateException("after publication");
                      }
                      return null;
                    })
                .retry(AT_ONCE)
                .producing("out.txt"))
        .drain();
    await(id, JobState.SUCCEEDED);
    assertThat(runs).hasValue(2);
    assertThat(artifact(id, "out.txt")).hasContent("run 2");
    assertThat(holdfast.queries().timeline(id))
        .extracting(JobEvent::type)
        .containsOnlyOnce("artifact:damaged");
  }

  @Test
  void an_accepted_artifact_that_was_not_moved_is_moved_by_the_retry() throws IOException {
    JobId id = enqueued("make", Map.of());
    worker()
        .handle(
            Kind.of(
                    "make",
                    Json.class,
                    (payload, context) -> {
                      context.publish(
                          Map.of("out.txt", written(context, "run " + runs.incrementAndGet())),
                          null);
                      // As if the worker had died between the two.
                      Path staged =
                          folder.resolve("results/.staged/" + context.id() + "/1/out.txt");
                      Files.createDirectories(staged.getParent());
                      Files.move(artifact(context.id(), "out.txt"), staged);
                      throw new IllegalStateException("after publication");
                    })
                .retry(AT_ONCE)
                .producing("out.txt"))
        .drain();
    await(id, JobState.SUCCEEDED);
    assertThat(runs).hasValue(1);
    assertThat(artifact(id, "out.txt")).hasContent("run 1");
    assertThat(files(folder.resolve("results/.staged"))).isEmpty();
  }

  // ---- the fence

  @Test
  void an_attempt_that_lost_its_lease_replaces_nothing() throws Exception {
    JobId id = enqueued("make", Map.of());
    CountDownLatch first = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicReference<Throwable> refused = new AtomicReference<>();
    start(
        worker()
            .handle(
                "make",
                Json.class,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    first.countDown();
                    // It ignores that its lease is lost.
                    try {
                      goOn.await();
                    } catch (InterruptedException unheeded) {
                      told.countDown();
                      goOn.await();
                    }
                  }
                  try {
                    return context.publish(
                        "out.txt", written(context, "attempt " + context.lease().attempt()));
                  } catch (LeaseLostException lost) {
                    refused.set(lost);
                    throw lost;
                  }
                }));
    until(first);
    db.expireLease(id.value());
    holdfast.store().maintenance().reap(Duration.ZERO);
    await(id, JobState.SUCCEEDED);
    until(told);
    goOn.countDown();
    until(() -> refused.get() != null);
    assertThat(artifact(id, "out.txt")).hasContent("attempt 2");
    assertThat(holdfast.queries().artifacts(id).getFirst().attempt()).isEqualTo(2);
    assertThat(files(folder.resolve("results/.staged"))).isEmpty();
  }

  // ---- names and files

  @ParameterizedTest
  @ValueSource(
      strings = {"../x", "/etc/x", "a/b", "a\\b", ".", "..", ".x", "", " ", "a\0b", "a\nb"})
  void an_invalid_name_is_refused(String name) {
    JobId id = enqueue(Job.of("make").maxAttempts(1));
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    worker()
        .handle(
            "make",
            Json.class,
            (payload, context) -> {
              Path file = written(context, "x");
              try {
                return context.publish(name, file);
              } catch (RuntimeException refused) {
                thrown.set(refused);
                throw refused;
              }
            })
        .drain();
    await(id, JobState.FAILED);
    assertThat(thrown.get())
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("artifact name");
  }

  @Test
  void a_link_in_the_store_is_not_followed() throws IOException {
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    JobId id = enqueue(Job.of("make").maxAttempts(1));
    Files.createDirectories(folder.resolve("results"));
    Files.createSymbolicLink(folder.resolve("results").resolve(id.toString()), elsewhere);
    worker().handle(failing(0)).drain();
    await(id, JobState.FAILED);
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void without_a_file_the_attempt_fails() {
    JobId id = enqueue(Job.of("make").maxAttempts(1));
    worker()
        .handle(
            "make",
            Json.class,
            (payload, context) -> context.publish("out.txt", context.scratch().resolve("nothing")))
        .drain();
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("there is no file");
  }

  // ---- a full disk

  @Test
  void a_full_disk_is_a_retryable_failure_and_leaves_nothing_at_the_final_key() throws Exception {
    Path small = Files.createDirectory(folder.resolve("small"));
    assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small.toString()) == 0);
    try {
      JobId full = enqueue(Job.of("large").maxAttempts(1));
      JobId next = enqueue(Job.of("fits").maxAttempts(1));
      worker()
          .scratch(new Scratch(scratchRoot(), false))
          .artifacts(new FolderStore(small))
          .concurrency(1)
          .handle(
              "large",
              Json.class,
              (payload, context) ->
                  context.publish(
                      "out.bin",
                      Files.write(context.scratch().resolve("large"), new byte[1 << 20])))
          .handle(
              "fits",
              Json.class,
              (payload, context) -> context.publish("out.txt", written(context, "small")))
          .drain();
      await(full, JobState.FAILED);
      assertThat(failure(full).category()).isEqualTo(FailureCategory.INFRASTRUCTURE);
      assertThat(failure(full).message()).contains("No space left on device");
      assertThat(small.resolve("results").resolve(full.toString())).doesNotExist();
      await(next, JobState.SUCCEEDED);
      assertThat(files(small.resolve("results/.staged"))).isEmpty();
    } finally {
      assertThat(run("umount", small.toString())).isZero();
    }
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  // ---- retention

  @Test
  void artifacts_of_deleted_jobs_are_orphaned_in_their_own_store_only() throws IOException {
    JobId id = enqueued("make", Map.of());
    worker().handle(failing(0)).drain();
    await(id, JobState.SUCCEEDED);
    String store = new FolderStore(folder).id();
    assertThat(holdfast.store().maintenance().orphaned(store)).isEmpty();
    db.sql("UPDATE holdfast.job SET finished_at = now() - interval '1 year'");
    assertThat(holdfast.store().maintenance().retain(JobState.SUCCEEDED, Duration.ofDays(1)))
        .isEqualTo(1);
    assertThat(holdfast.queries().artifacts(id)).isEmpty();
    assertThat(holdfast.store().maintenance().orphaned("another store")).isEmpty();
    assertThat(holdfast.store().maintenance().orphaned(store)).containsExactly(id);
    new FolderStore(folder).delete(id);
    holdfast.store().maintenance().forget(store, holdfast.store().maintenance().orphaned(store));
    assertThat(holdfast.store().maintenance().orphaned(store)).isEmpty();
    assertThat(files(folder)).containsExactly("results/.store");
  }

  @Test
  void a_store_keeps_its_id() throws IOException {
    String name = new FolderStore(folder).id();
    assertThat(new FolderStore(folder).id()).isEqualTo(name);
    Files.writeString(folder.resolve("results/.store"), "");
    assertThatThrownBy(() -> new FolderStore(folder).id()).hasMessageContaining("is empty");
  }
}
