package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The clip job, with a real ffmpeg on a real video, under kills and cancels. */
@OnlyWithRelease
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class ClipTest {
  private final World world;
  private Video video;

  ClipTest(World world) {
    this.world = world;
  }

  @BeforeEach
  void make() throws IOException {
    video = Video.in(world.folder());
  }

  private Launch worker() {
    return world
        .worker()
        .env("PATH", video.path())
        .env("CLIP_FOLDER", world.folder().toString())
        .env("HOLDFAST_FOLDER", "data");
  }

  private Path data(String path) {
    return world.folder().resolve("data").resolve(path);
  }

  private Path clip(JobId job) {
    return data("results").resolve(job.toString()).resolve("clip.mp4");
  }

  private static List<String> below(Path folder) throws IOException {
    while (Files.exists(folder)) {
      try (Stream<Path> walk = Files.walk(folder)) {
        return walk.filter(Files::isRegularFile).map(Path::toString).toList();
      } catch (NoSuchFileException | UncheckedIOException goneMeanwhile) {
        // once more
      }
    }
    return List.of();
  }

  @Test
  void the_timeline_of_a_clip_has_the_specified_events() throws IOException {
    ChildProcess worker = worker().start();
    JobId job = world.enqueue("clip", Video.request(2, 3));
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    List<String> types = world.timeline(job).types();
    assertThat(types)
        .startsWith("created", "processing", "source:ready")
        .endsWith("uploaded", "done");
    assertThat(types.subList(3, types.size() - 2)).isNotEmpty().containsOnly("progress");
    assertThat(done.progress()).isEqualTo(100);
    assertThat(String.valueOf(done.result())).contains("\"artifact\": \"clip.mp4\"");
    Video.assertPlayable(clip(job), 3);
    worker.signal("TERM");
    assertThat(worker.awaitExit(SOON)).isZero();
    assertThat(below(data("scratch"))).isEmpty();
    assertThat(below(data("results"))).hasSize(2); // the clip, and the name of the store
  }

  @Test
  void a_source_that_is_too_large_fails_before_any_work() throws IOException {
    worker().env("CLIP_MOST_BYTES", "1000").start();
    JobId job = world.enqueue("clip", Video.request(0, 1));
    Failure failure = Objects.requireNonNull(world.await(job, JobState.FAILED).failure());
    assertThat(failure.code()).isEqualTo(Failure.INPUT_TOO_LARGE);
    assertThat(world.status(job).attempt()).isEqualTo(1);
    assertThat(world.status(job).failures()).isZero();
    assertThat(world.timeline(job).types()).containsExactly("created", "processing", "failed");
    assertThat(video.calls()).isZero();
    assertThat(below(data("scratch"))).isEmpty();
  }

  @Test
  void a_source_outside_its_folder_or_missing_is_rejected() throws IOException {
    worker().start();
    Files.writeString(world.folder().resolve("no.mp4"), "this is no video");
    Files.createSymbolicLink(world.folder().resolve("passwd.mp4"), Path.of("/etc/passwd"));
    for (String source :
        List.of("../../etc/passwd", "/etc/passwd", "passwd.mp4", "no.mp4", "nothing", "")) {
      JobId job = world.enqueue("clip", Map.of("source", source, "start", 0, "seconds", 1));
      Failure failure = Objects.requireNonNull(world.await(job, JobState.FAILED).failure());
      assertThat(failure.code()).as(source).isEqualTo(Failure.VALIDATION);
    }
    assertThat(video.calls()).isZero();
  }

  @Test
  void a_worker_killed_in_the_middle_of_a_clip_leaves_no_ffmpeg_and_another_finishes_it()
      throws Exception {
    video.slow();
    ChildProcess victim = worker().start();
    JobId job = world.enqueue("clip", Video.request(0, 15));
    Eventually.until(SOON, "ffmpeg is at work", () -> percent(job) > 0);
    List<Long> running =
        ProcessHandle.of(victim.pid())
            .orElseThrow()
            .descendants()
            .filter(process -> process.info().command().orElse("").endsWith("ffmpeg"))
            .map(ProcessHandle::pid)
            .toList();
    assertThat(running).isNotEmpty();
    victim.signal("KILL");
    assertThat(victim.awaitExit(SOON)).isEqualTo(137);
    Eventually.until(SOON, "ffmpeg is gone", () -> running.stream().noneMatch(Living::is));

    video.fast();
    ChildProcess other = worker().start();
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    assertThat(done.attempt()).isEqualTo(2);
    assertThat(done.crashes()).isEqualTo(1);
    List<String> types = world.timeline(job).types();
    assertThat(types).containsOnlyOnce("uploaded", "requeued:stale").endsWith("uploaded", "done");
    assertThat(types.indexOf("requeued:stale")).isLessThan(types.lastIndexOf("processing"));
    Video.assertPlayable(clip(job), 15);
    other.signal("TERM");
    assertThat(other.awaitExit(SOON)).isZero();
    assertThat(below(data("scratch"))).isEmpty();
    assertThat(below(data("results"))).hasSize(2);
  }

  private int percent(JobId job) {
    Integer progress = world.status(job).progress();
    return progress == null ? 0 : progress;
  }

  @Test
  void after_a_kill_between_publication_and_settling_the_clip_is_not_made_again()
      throws IOException {
    ChildProcess victim = worker().start();
    JobId job = world.enqueue("clip-and-wait", Video.request(1, 2));
    victim.awaitLine("published " + job + "#1", SOON);
    victim.signal("KILL");
    assertThat(victim.awaitExit(SOON)).isEqualTo(137);
    assertThat(video.calls()).isEqualTo(1);

    ChildProcess other = worker().start();
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    assertThat(video.calls()).isEqualTo(1);
    assertThat(done.attempt()).isEqualTo(2);
    assertThat(String.valueOf(done.result())).contains("\"artifact\": \"clip.mp4\"");
    assertThat(world.timeline(job).types())
        .endsWith("uploaded", "requeued:stale", "processing", "done");
    Video.assertPlayable(clip(job), 2);
    other.signal("TERM");
    assertThat(other.awaitExit(SOON)).isZero();
    assertThat(below(data("scratch"))).isEmpty();
  }

  @Test
  void cancelling_a_clip_ends_its_ffmpeg() throws Exception {
    video.slow();
    ChildProcess worker = worker().start();
    JobId job = world.enqueue("clip", Video.request(0, 15));
    Eventually.until(SOON, "ffmpeg is at work", () -> percent(job) > 0);
    world.holdfast().cancel(job, "not wanted");
    world.await(job, JobState.CANCELLED);
    assertThat(
            ProcessHandle.of(worker.pid())
                .orElseThrow()
                .descendants()
                .filter(process -> process.info().command().orElse("").endsWith("ffmpeg")))
        .isEmpty();
    Eventually.until(SOON, "its scratch is gone", () -> below(data("scratch")).isEmpty());
    assertThat(clip(job)).doesNotExist();
  }
}
