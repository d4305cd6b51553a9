package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreparedServersTest {
  @TempDir Path folder;

  private final AtomicInteger made = new AtomicInteger();
  private PreparedServers servers;
  private Path cache;

  @BeforeEach
  void open() {
    cache = folder.resolve("cache");
    servers = new PreparedServers(cache, this::make);
  }

  private void make(Path where) {
    try {
      Files.createDirectory(where.resolve("data"));
      Files.writeString(where.resolve("data/number"), "" + made.incrementAndGet());
      Files.writeString(where.resolve("password"), "secret");
      Files.writeString(where.resolve("postgres.log"), "of no use to a copy");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String numberIn(String copy, String key) throws IOException {
    Path to = Files.createDirectory(folder.resolve(copy));
    servers.copyTo(to, key);
    assertThat(to.resolve("password")).hasContent("secret");
    assertThat(to.resolve("postgres.log")).doesNotExist();
    return Files.readString(to.resolve("data/number"));
  }

  @Test
  void makes_one_server_per_set_of_inputs() throws IOException {
    assertThat(numberIn("a", "old")).isEqualTo("1");
    assertThat(numberIn("b", "old")).isEqualTo("1");
    assertThat(numberIn("c", "new")).isEqualTo("2");
    assertThat(numberIn("d", "old")).isEqualTo("1");
  }

  @Test
  void a_failed_creation_leaves_no_files() throws IOException {
    PreparedServers failing =
        new PreparedServers(
            cache,
            where -> {
              make(where);
              throw new IllegalStateException("no space");
            });
    assertThatThrownBy(() -> failing.copyTo(folder, "key")).hasMessage("no space");
    assertThat(numberIn("a", "key")).isEqualTo("2");
    assertThat(entries()).containsExactlyInAnyOrder("prepared-key", "prepared.lock");
  }

  @Test
  void servers_unused_for_a_day_are_deleted_when_another_is_made() throws IOException {
    assertThat(numberIn("a", "forgotten")).isEqualTo("1");
    assertThat(numberIn("b", "used")).isEqualTo("2");
    for (String key : new String[] {"forgotten", "used"}) {
      Files.setLastModifiedTime(
          cache.resolve("prepared-" + key), FileTime.from(Instant.now().minus(Duration.ofDays(2))));
    }
    assertThat(numberIn("c", "used")).isEqualTo("2");
    assertThat(numberIn("d", "new")).isEqualTo("3");
    assertThat(entries())
        .containsExactlyInAnyOrder("prepared-used", "prepared-new", "prepared.lock");
  }

  private Stream<String> entries() throws IOException {
    try (Stream<Path> entries = Files.list(cache)) {
      return entries.map(path -> path.getFileName().toString()).toList().stream();
    }
  }
}
