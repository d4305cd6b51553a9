package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerFoldersTest {
  private static final int PROCESSES = 8;

  @Test
  void a_folder_deleted_concurrently_is_gone_for_every_caller(@TempDir Path place)
      throws Exception {
    try (var threads = Executors.newFixedThreadPool(PROCESSES)) {
      for (int round = 0; round < 10; round++) {
        Path abandoned = folder(place.resolve("abandoned" + round));
        Callable<Boolean> deletion =
            () -> {
              ServerFolders.delete(abandoned);
              return Files.exists(abandoned);
            };
        for (Future<Boolean> exists : threads.invokeAll(Collections.nCopies(PROCESSES, deletion))) {
          assertThat(exists.get()).isFalse();
        }
      }
    }
  }

  private static Path folder(Path folder) throws IOException {
    for (int i = 0; i < 40; i++) {
      Path base = Files.createDirectories(folder.resolve("base").resolve(String.valueOf(i)));
      for (int file = 0; file < 50; file++) {
        Files.createFile(base.resolve(String.valueOf(file)));
      }
    }
    return folder;
  }
}
