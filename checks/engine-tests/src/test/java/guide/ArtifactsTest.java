package guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.programs.ProgramRunner;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Soon;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/guides/artifacts.md. */
class ArtifactsTest extends Guide {
  record Poster(String video) {}

  @TempDir Path folder;

  // region poster
  Object poster(Poster poster, JobContext context) {
    Path image = context.scratch().resolve("poster.png"); // work in private …
    ProgramRunner.run(
        context,
        List.of("ffmpeg", "-i", poster.video(), "-frames:v", "1", image.toString()),
        line -> {},
        line -> {});
    context.publish("poster.png", image); // … and publish at the end
    return Map.of("poster", "poster.png");
  }

  WorkerBuilder worker() {
    return holdfast
        .worker("video")
        .handle(Kind.of("poster", Poster.class, this::poster).producing("poster.png"));
  }

  // endregion

  private Path video() {
    Path video = folder.resolve("video.mp4");
    try (ChildProcess ffmpeg =
        ChildProcess.command(
            "ffmpeg",
            "-nostdin",
            "-v",
            "error",
            "-f",
            "lavfi",
            "-i",
            "color=size=16x16:rate=1:duration=1",
            video.toString())) {
      assertThat(ffmpeg.awaitExit(Soon.SOON)).isZero();
    }
    return video;
  }

  @Test
  void the_poster_is_published_and_the_scratch_folder_is_deleted() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/ffmpeg")), "ffmpeg is not installed");
    JobId id = enqueue(Job.of("poster", new Poster(video().toString())).queue("video"));
    Path scratch = folder.resolve("scratch");
    worker().artifacts(new FolderStore(folder)).scratch(new Scratch(scratch, false)).drain();
    assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
    assertThat(folder.resolve("results/" + id + "/poster.png"))
        .isNotEmptyFile()
        .satisfies(png -> assertThat(Files.readAllBytes(png)).startsWith(0x89, 'P', 'N', 'G'));
    assertThat(holdfast.queries().artifacts(id))
        .extracting(PublishedArtifact::artifact)
        .singleElement()
        .satisfies(
            artifact -> {
              assertThat(artifact.name()).isEqualTo("poster.png");
              assertThat(artifact.size())
                  .isEqualTo(Files.size(folder.resolve("results/" + id + "/poster.png")));
            });
    assertThat(timeline(id)).containsSubsequence("uploaded", "done");
    assertThat(scratch.resolve(id.toString())).doesNotExist();
  }

  @Test
  void nothing_is_published_when_the_program_wrote_no_file() {
    JobId id = enqueue(Job.of("poster", new Poster("no-such-video")).queue("video").maxAttempts(1));
    worker()
        .artifacts(new FolderStore(folder))
        .scratch(new Scratch(folder.resolve("scratch"), false))
        .drain();
    assertThat(state(id)).isEqualTo(JobState.FAILED);
    assertThat(folder.resolve("results/" + id + "/poster.png")).doesNotExist();
    assertThat(folder.resolve("scratch/" + id + "/1")).as("kept after a failure").isDirectory();
  }
}
