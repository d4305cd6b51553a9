package dev.holdfast.steps;

import static dev.holdfast.steps.Sources.sh;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResumeTimeTest {
  @TempDir Path folder;

  @Test
  void ten_steps_in_two_thousand_files_are_resumed_within_five_seconds() throws Exception {
    Path source = Sources.repository(folder.resolve("source"));
    sh(
        source,
        "for d in $(seq 50); do mkdir -p d$d; for f in $(seq 40); do"
            + " seq $((d * f)) > d$d/f$f.txt; done; done; git add -A; git commit -q -m many");
    Git git = Git.installed(folder.resolve("home"), WorkspaceTest.path());
    Repository repository = new Repository(source.toString(), "main");
    Path cache = folder.resolve("cache");

    long start = System.nanoTime();
    Workspace workspace = Workspace.create(folder.resolve("w"), repository, null, cache, git);
    Duration cold = since(start);
    List<Changes> steps = new ArrayList<>();
    Duration looking = Duration.ZERO;
    for (int i = 1; i <= 10; i++) {
      sh(workspace.work(), "for f in $(seq 20); do echo " + i + " >> d" + i + "/f$f.txt; done");
      start = System.nanoTime();
      Changes changes = workspace.changes();
      looking = looking.plus(since(start));
      workspace.accept(changes);
      Path patch = Files.move(changes.patch(), folder.resolve("step-" + i + ".patch"));
      steps.add(
          new Changes(
              changes.base(), changes.tree(), patch, changes.diffHash(), changes.changedFiles()));
    }

    start = System.nanoTime();
    Workspace again =
        Workspace.create(folder.resolve("again"), repository, workspace.baseline(), cache, git);
    Duration warm = since(start);
    long replaying = System.nanoTime();
    for (Changes step : steps) {
      again.replay(step.patch(), step.diffHash(), step.tree());
    }
    String figures =
        "create %d ms, again %d ms; changes %d ms; replay of ten steps %d ms"
            .formatted(
                cold.toMillis(),
                warm.toMillis(),
                looking.toMillis() / 10,
                since(replaying).toMillis());
    assertThat(since(start)).as(figures).isLessThan(Duration.ofSeconds(5));
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }
}
