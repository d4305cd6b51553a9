package dev.holdfast.workspace.git;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a git that was killed leaves in a repository: locks, which every later one would run into,
 * and halves of packs. Only for a process that has the repository alone. The git of a process that
 * was killed lives a moment longer: what is young may still be its.
 */
public final class StaleGitLocks {
  private static final Logger log = LoggerFactory.getLogger(StaleGitLocks.class);
  private static final Duration YOUNG = Duration.ofSeconds(5);
  private static final long LOOK_MILLIS = 20;

  private StaleGitLocks() {}

  /** Waits for young locks; {@code look} may end the waiting by throwing. */
  public static void clear(Path gitDir, Runnable look) throws IOException {
    List<Path> locks = locks(gitDir);
    while (locks.stream().anyMatch(StaleGitLocks::isYoung)) {
      look.run();
      pause();
      locks = locks(gitDir);
    }
    for (Path lock : locks) {
      log.warn("Deleting {}, left by a git that was killed", lock);
      Files.deleteIfExists(lock);
    }
    for (Path half : files(gitDir, "objects/pack", 1, "tmp_*")) {
      if (!isYoung(half)) {
        Files.deleteIfExists(half);
      }
    }
  }

  /** No branch or tag may have such a name. */
  private static List<Path> locks(Path gitDir) throws IOException {
    List<Path> locks = new ArrayList<>(files(gitDir, "", 1, "*.lock"));
    locks.addAll(files(gitDir, "refs", Integer.MAX_VALUE, "*.lock"));
    return locks;
  }

  /** Not where a link leads: a program may have put it there. */
  private static List<Path> files(Path gitDir, String name, int depth, String pattern)
      throws IOException {
    Path folder = gitDir.resolve(name);
    if (!Files.isDirectory(gitDir, LinkOption.NOFOLLOW_LINKS)
        || !Files.isDirectory(folder)
        || !folder.toRealPath().equals(gitDir.toRealPath().resolve(name))) {
      return List.of();
    }
    PathMatcher wanted = folder.getFileSystem().getPathMatcher("glob:" + pattern);
    try (Stream<Path> all = Files.walk(folder, depth)) {
      return all.filter(path -> wanted.matches(path.getFileName()))
          .filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
          .toList();
    } catch (NoSuchFileException | UncheckedIOException goneMeanwhile) {
      return List.of();
    }
  }

  private static boolean isYoung(Path file) {
    try {
      Instant written = Files.getLastModifiedTime(file).toInstant();
      return Duration.between(written, Instant.now()).abs().compareTo(YOUNG) < 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }
}
