package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArchiveTest {

  @Test
  void two_that_unpack_at_once_get_one_whole_folder(@TempDir Path cache) throws Exception {
    Callable<Binaries> unpack = () -> Binaries.embedded(cache);
    try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
      List<Future<Binaries>> both = executor.invokeAll(List.of(unpack, unpack));
      assertThat(both.get(0).get()).isEqualTo(both.get(1).get());
    }
    try (Stream<Path> entries = Files.list(cache)) {
      assertThat(entries).singleElement().asString().contains("bin-");
    }
    Binaries binaries = Binaries.embedded(cache);
    assertThat(binaries.major()).isEqualTo("18");
    assertThat(binaries.program("postgres")).isExecutable();
    assertThat(binaries.bin().resolveSibling("lib").resolve("libpq.so")).isSymbolicLink();
  }
}
