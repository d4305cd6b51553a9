package dev.holdfast.worker.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.RefusedException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
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
  void a_file_is_on_disk_before_it_is_moved_and_its_folders_after_it() throws IOException {
    List<String> forced = new ArrayList<>();
    store =
        new FolderStore(
            folder,
            (path, open) ->
                forced.add(
                    "%s %s %s"
                        .formatted(
                            folder.resolve("results").relativize(path),
                            Files.isRegularFile(path) ? Files.readString(path) : "folder",
                            Files.exists(published()) ? "moved" : "staged")));
    ArtifactStore.Staged staged = staged(1, "one");
    String copy = ".staged/%s/1/%s".formatted(job, NAME);
    assertThat(forced).containsExactly(copy + " one staged");
    assertThat(staged.publish()).isTrue();
    assertThat(forced)
        .containsExactly(copy + " one staged", job + " folder moved", " folder moved");
  }

  @Test
  void a_staged_file_is_not_yet_visible() throws IOException {
    ArtifactStore.Staged staged = staged(1, "one");
    assertThat(published()).doesNotExist();
    assertThat(staged.publish()).isTrue();
    assertThat(published()).hasContent("one");
  }

  private FolderStore.Received received(String text) throws IOException {
    InputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    return store.receive(new Lease(job, 1), NAME, in);
  }

  @Test
  void a_file_that_is_received_twice_at_once_is_one_or_the_other() throws IOException {
    FolderStore.Received one = received("one");
    FolderStore.Received other = received("other");
    ArtifactStore.Staged staged = one.stage();
    one.discard();
    assertThat(staged.artifact().size()).isEqualTo(3);
    assertThat(staged.publish()).isTrue();
    assertThat(published()).hasContent("one");
    assertThat(other.stage().publish()).isTrue();
    assertThat(published()).hasContent("other");
  }

  @Test
  void what_is_not_received_to_its_end_leaves_no_file() throws IOException {
    InputStream broken = InputStream.nullInputStream();
    broken.close();
    assertThatThrownBy(() -> store.receive(new Lease(job, 1), NAME, broken))
        .isInstanceOf(IOException.class);
    received("one").discard();
    try (Stream<Path> all = Files.walk(folder)) {
      assertThat(all.filter(Files::isRegularFile)).isEmpty();
    }
  }

  @Test
  void a_discarded_file_is_deleted() throws IOException {
    staged(1, "one").discard();
    store.tidy(job);
    assertThat(folder.resolve("results/.staged/" + job)).doesNotExist();
    assertThat(published()).doesNotExist();
  }

  @Test
  void an_accepted_attempt_publishes_nothing_after_a_later_attempt_has_published()
      throws IOException {
    ArtifactStore.Staged sleeper = staged(1, "one");
    assertThat(staged(2, "two").publish()).isTrue();
    assertThat(sleeper.publish()).isFalse();
    assertThat(published()).hasContent("two");
  }

  @Test
  void the_file_of_an_earlier_attempt_is_replaced_by_a_later_one() throws IOException {
    ArtifactStore.Staged second = staged(2, "two");
    assertThat(staged(1, "one").publish()).isTrue();
    assertThat(second.publish()).isTrue();
    assertThat(published()).hasContent("two");
  }

  @Test
  void a_later_attempt_that_only_stages_removes_nothing() throws IOException {
    ArtifactStore.Staged first = staged(1, "one");
    staged(2, "two");
    assertThat(first.publish()).isTrue();
    assertThat(published()).hasContent("one");
  }

  @Test
  void an_earlier_attempt_removes_nothing_of_a_later_one() throws IOException {
    ArtifactStore.Staged second = staged(2, "two");
    staged(1, "one").publish();
    assertThat(second.publish()).isTrue();
    assertThat(published()).hasContent("two");
  }

  @Test
  void when_two_attempts_race_readers_see_whole_files_and_the_later_one_is_kept() throws Exception {
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
                } catch (NoSuchFileException e) {
                  assertThat(seen).as("it was there, and has vanished").isFalse();
                } catch (IOException e) {
                  throw new AssertionError(e);
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
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void only_regular_files_are_accepted() throws IOException {
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
