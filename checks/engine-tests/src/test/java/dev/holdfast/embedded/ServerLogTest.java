package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerLogTest {
  @TempDir(factory = OpenFolder.class)
  Path folder;

  @Test
  void the_tail_is_the_last_lines_of_this_launch() throws IOException {
    Path file = folder.resolve("log");
    Files.writeString(file, "of an earlier launch\n");
    ServerLog log = new ServerLog(file);
    log.begin();
    Files.writeString(file, "1\n2\n3\n4\n5\n6\n", StandardOpenOption.APPEND);
    assertThat(log.tail()).isEqualTo("2\n3\n4\n5\n6");
  }

  @Test
  void a_long_log_is_rotated() throws IOException {
    Path file = folder.resolve("log");
    Files.write(file, new byte[5 << 20]);
    new ServerLog(file).begin();
    assertThat(file).doesNotExist();
    assertThat(folder.resolve("log.1")).hasSize(5 << 20);
  }

  @Test
  void the_tail_of_a_missing_log_is_a_placeholder() throws IOException {
    ServerLog log = new ServerLog(folder.resolve("log"));
    log.begin();
    assertThat(log.tail()).startsWith("(no log");
  }
}
