package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two workers publish the same artifact, because the first was frozen past its lease. */
@Durable
@ExtendWith(WorldExtension.class)
@OnlyWithRelease
class ArtifactRaceTest {
  /** Reads a file over and over: it must not be there, and then be whole for ever. */
  private static final class Watcher implements AutoCloseable {
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicLong reads = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();
    private final Thread thread;

    Watcher(Path file) {
      thread = Thread.ofPlatform().start(() -> watch(file));
    }

    private void watch(Path file) {
      try {
        while (!closed.get()) {
          byte[] bytes;
          try {
            bytes = Files.readAllBytes(file);
          } catch (NoSuchFileException notThere) {
            if (reads.get() > 0) {
              throw new AssertionError("it has vanished", notThere);
            }
            LockSupport.parkNanos(100_000);
            continue;
          }
          reads.incrementAndGet();
          assertThat(bytes).hasSize(ScenarioKinds.LARGE);
          assertThat(bytes).containsOnly(bytes[0]);
        }
      } catch (IOException | RuntimeException | AssertionError e) {
        wrong.set(e);
      }
    }

    private boolean joined() {
      try {
        return thread.join(SOON);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return false;
      }
    }

    @Override
    public void close() {
      closed.set(true);
      assertThat(joined()).isTrue();
      assertThat(wrong.get()).isNull();
      assertThat(reads.get()).isPositive();
    }
  }

  @Test
  void readers_always_see_a_whole_file_and_a_late_attempt_changes_nothing(World world)
      throws Exception {
    Path gate = world.gate("go");
    Launch launch = world.worker().env("HOLDFAST_FOLDER", "data");
    ChildProcess frozen = launch.start();
    JobId job = world.enqueueHeld("publish", gate);
    frozen.awaitLine("began " + job + "#1", SOON);
    Path file = world.folder().resolve("data/results/" + job + "/large.bin");
    try (Watcher watcher = new Watcher(file)) {
      frozen.signal("STOP");
      ChildProcess other = launch.start();
      other.awaitLine("began " + job + "#2", SOON);
      world.open(gate);
      other.awaitLine("published " + job + "#2", SOON);
      frozen.signal("CONT");
      frozen.awaitLine("refused " + job + "#1", SOON);
      world.open(world.gate("settle"));
      world.await(job, JobState.SUCCEEDED);
      Eventually.until(SOON, "a reader has read it", () -> watcher.reads.get() > 0);
    }
    assertThat(Files.readAllBytes(file)).containsOnly((byte) 2);
    assertThat(world.holdfast().queries().artifacts(job).getFirst().attempt()).isEqualTo(2);
    assertThat(world.timeline(job).types())
        .containsExactly(
            "created", "processing", "requeued:stale", "processing", "uploaded", "done");
  }
}
