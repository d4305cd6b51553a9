package dev.holdfast.bench;

import dev.holdfast.redaction.Scrubber;
import dev.holdfast.workspace.git.Changes;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.Repository;
import dev.holdfast.workspace.git.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** What healing costs, without any queue. */
final class HealTrials {
  private static final int FILES = 2_000;
  private static final int STEPS = 10;
  private static final int LOG_LINES = 200_000;

  Map<String, Callable<List<Sample>>> all() {
    Map<String, Callable<List<Sample>>> all = new LinkedHashMap<>();
    all.put("resume", HealTrials::resume);
    all.put("scrub", HealTrials::scrub);
    return all;
  }

  private static Sample of(String trial, String unit, double value) {
    return Sample.of(trial, "holdfast", unit, value);
  }

  private record Step(Path patch, Changes changes) {}

  /** A workspace as another machine rebuilds it: a clone, and the patches of ten steps. */
  private static List<Sample> resume() throws Exception {
    Path folder = Files.createTempDirectory("holdfast-resume-");
    try {
      makeRepository(folder.resolve("repo"));
      Git git = Git.installed(folder.resolve("home"), Map.of());
      Repository repository = new Repository(folder.resolve("repo").toString(), "main");
      long start = System.nanoTime();
      Workspace first =
          Workspace.create(folder.resolve("first"), repository, null, folder.resolve("cache"), git);
      double cold = millis(start);
      List<Step> steps = new ArrayList<>();
      double looking = 0;
      for (int step = 1; step <= STEPS; step++) {
        for (int file = 0; file < 5; file++) {
          Files.writeString(
              first.work().resolve("d" + file).resolve("f" + step), "changed by " + step + "\n");
        }
        start = System.nanoTime();
        Changes changes = first.changes();
        looking += millis(start);
        Path patch = Files.copy(changes.patch(), folder.resolve("step-" + step + ".patch"));
        first.accept(changes);
        steps.add(new Step(patch, changes));
      }
      start = System.nanoTime();
      Workspace again =
          Workspace.create(
              folder.resolve("again"), repository, first.baseline(), folder.resolve("cache"), git);
      double warm = millis(start);
      for (Step step : steps) {
        again.replay(step.patch(), step.changes().diffHash(), step.changes().tree());
      }
      return List.of(
          of("workspace of 2,000 files, first", "ms", cold),
          of("the same with a warm cache", "ms", warm),
          of("what a step changed", "ms", looking / STEPS),
          of("resume after 10 steps", "ms", millis(start)));
    } finally {
      Process deleted = new ProcessBuilder("rm", "-rf", folder.toString()).start();
      deleted.waitFor();
    }
  }

  private static double millis(long start) {
    return (System.nanoTime() - start) / 1e6;
  }

  private static void makeRepository(Path repository) throws IOException, InterruptedException {
    for (int file = 0; file < FILES; file++) {
      Path folder = Files.createDirectories(repository.resolve("d" + file / 20));
      Files.writeString(folder.resolve("f" + file % 20), ("line of " + file + "\n").repeat(50));
    }
    Process made =
        new ProcessBuilder(
                "/bin/sh",
                "-ec",
                "git init -q -b main; git add -A;"
                    + " git -c user.name=b -c user.email=b@localhost commit -q -m start")
            .directory(repository.toFile())
            .start();
    if (made.waitFor() != 0) {
      throw new IOException("git could not make a repository");
    }
  }

  /** Output of programs on its way to the log. */
  private static List<Sample> scrub() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < LOG_LINES; i++) {
      text.append("[INFO] Compiling module-").append(i % 97);
      text.append(" src/main/java/dev/example/Service").append(i).append(".java in 42 ms\n");
    }
    String log = text.toString();
    Scrubber scrubber = Scrubber.knowing(List.of("correct-horse-battery-staple"));
    double best = 0;
    for (int round = 0; round < 8; round++) {
      long start = System.nanoTime();
      String scrubbed = scrubber.scrub(log);
      double rate = log.length() / 1e6 / (millis(start) / 1e3);
      if (scrubbed.length() != log.length()) {
        throw new IllegalStateException("an ordinary log was changed");
      }
      best = Math.max(best, rate);
    }
    return List.of(of("scrubbing a build log", "MB/s", best));
  }
}
