package dev.holdfast.worker.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderStoreTest {
  private static final String NAME = "out.bin";

  @TempDir Path folder;
  private final JobId job = JobId.next();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private FolderStore store;

  @BeforeEach
  void open() {
    store = new FolderStore(folder);
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  private ArtifactStore.Staged staged(int attempt, String text) throws IOException {
    Path file = Files.writeString(folder.resolve("source-" + attempt), text);
    return store.stage(new Lease(job, attempt), NAME, file);
  }

  private Path published() {
    return store.path(job, NAME);
  }

  @Test
  void what_is_staged_is_not_yet_seen() throws IOException {
    ArtifactStore.Staged staged = staged(1, "one");
    assertThat(published()).doesNotExist();
    assertThat(staged.publish()).isTrue();
    assertThat(published()).hasContent("one");
  }

  @Test
  void what_is_discarded_leaves_no_file() throws IOException {
    staged(1, "one").discard();
    store.tidy(job);
    assertThat(folder.resolve("results/.staged/" + job)).doesNotExist();
    assertThat(published()).doesNotExist();
  }

  @Test
  void one_who_was_accepted_and_slept_while_a_later_attempt_published_moves_nothing()
      throws IOException {
    ArtifactStore.Staged sleeper = staged(1, "one");
    assertThat(staged(2, "two").publish()).isTrue();
    assertThat(sleeper.publish()).isFalse();
    assertThat(published()).hasContent("two");
  }

  @Test
  void one_who_was_quick_is_replaced_by_the_later_attempt() throws IOException {
    ArtifactStore.Staged second = staged(2, "two");
    assertThat(staged(1, "one").publish()).isTrue();
    assertThat(second.publish()).isTrue();
    assertThat(published()).hasContent("two");
  }

  @Test
  void a_later_attempt_that_is_only_preparing_takes_nothing_away() throws IOException {
    ArtifactStore.Staged first = staged(1, "one");
    staged(2, "two");
    assertThat(first.publish()).isTrue();
    assertThat(published()).hasContent("one");
  }

  @Test
  void an_earlier_attempt_takes_nothing_away_from_a_later_one() throws IOException {
    ArtifactStore.Staged second = staged(2, "two");
    staged(1, "one").publish();
    assertThat(second.publish()).isTrue();
    assertThat(published()).hasContent("two");
  }

  @Test
  void however_two_attempts_race_the_reader_sees_whole_files_and_the_later_one_stays()
      throws Exception {
    String one = "1".repeat(200_000);
    String two = "2".repeat(200_000);
    AtomicBoolean done = new AtomicBoolean();
    CompletableFuture<Void> reader =
        CompletableFuture.runAsync(
            () -> {
              boolean seen = false;
              while (!done.get()) {
                try {
                  String read = Files.readString(published());
                  seen = true;
                  assertThat(read.equals(one) || read.equals(two)).isTrue();
                } catch (NoSuchFileException gone) {
                  assertThat(seen).as("it was there, and has vanished").isFalse();
                } catch (IOException trouble) {
                  throw new AssertionError(trouble);
                }
              }
            },
            threads);
    for (int round = 1; round < 200; round += 2) {
      ArtifactStore.Staged early = staged(round, one);
      ArtifactStore.Staged late = staged(round + 1, two);
      CompletableFuture<Boolean> racing =
          CompletableFuture.supplyAsync(() -> publish(early), threads);
      assertThat(publish(late)).isTrue();
      racing.join();
      assertThat(Files.readString(published())).isEqualTo(two);
    }
    done.set(true);
    reader.get();
  }

  private static boolean publish(ArtifactStore.Staged staged) {
    try {
      return staged.publish();
    } catch (IOException trouble) {
      throw new AssertionError(trouble);
    }
  }

  @Test
  void only_plain_files_are_taken() throws IOException {
    Lease lease = new Lease(job, 1);
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("/etc/passwd"));
    assertThatThrownBy(() -> store.stage(lease, NAME, link))
        .isInstanceOf(NotRegularFileException.class);
    assertThatThrownBy(() -> store.stage(lease, NAME, folder))
        .isInstanceOf(NotRegularFileException.class);
    assertThatThrownBy(() -> store.stage(lease, NAME, folder.resolve("nothing")))
        .isInstanceOf(NoSuchFileException.class);
    Path file = Files.writeString(folder.resolve("file"), "x");
    assertThatThrownBy(() -> store.stage(lease, "../x", file)).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> store.path(job, "a/b")).isInstanceOf(RefusedException.class);
  }
}
