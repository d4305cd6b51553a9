package dev.holdfast.queue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of the source tree, found from any module. */
public final class Checkout {
  private Checkout() {}

  public static Path file(String path) {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("docs/queries.md"))) {
      folder = folder.getParent();
    }
    return folder.resolve(path);
  }

  public static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
