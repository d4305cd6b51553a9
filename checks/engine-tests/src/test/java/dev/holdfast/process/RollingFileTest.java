package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RollingFileTest {
  @TempDir Path folder;

  @Test
  void keeps_the_last_output_within_its_size_limit() throws IOException {
    Path file = folder.resolve("output.log");
    try (RollingFile log = new RollingFile(file, 1_000)) {
      for (int i = 0; i < 1_000; i++) {
        log.line("line " + i);
      }
    }
    assertThat(Files.readAllLines(file)).last().isEqualTo("line 999");
    Path before = folder.resolve("output.log.1");
    assertThat(Files.size(file) + Files.size(before)).isBetween(500L, 1_000L);
    assertThat(Files.readAllLines(before)).last().isNotNull();
  }

  @Test
  void a_file_that_cannot_be_written_loses_only_the_log() {
    try (RollingFile log = new RollingFile(folder.resolve("no/such/folder/log"), 1_000)) {
      log.line("one");
      log.line("two");
    }
    assertThat(folder.resolve("no")).doesNotExist();
  }
}
