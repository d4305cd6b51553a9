package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** What the server writes to: one file, one older file beside it, both bounded. */
final class ServerLog {
  private static final long ROTATE_BYTES = 4L << 20;
  private static final int TAIL_BYTES = 4096;
  private static final int TAIL_LINES = 5;

  private final Path file;
  private long from;

  ServerLog(Path file) {
    this.file = file;
  }

  Path file() {
    return file;
  }

  /** Called before each launch; {@link #tail} then shows only what this launch wrote. */
  void begin() throws IOException {
    if (!Files.exists(file)) {
      from = 0;
    } else if (Files.size(file) > ROTATE_BYTES) {
      Files.move(
          file,
          file.resolveSibling(file.getFileName() + ".1"),
          StandardCopyOption.REPLACE_EXISTING);
      from = 0;
    } else {
      from = Files.size(file);
    }
  }

  String tail() {
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      channel.position(Math.max(from, channel.size() - TAIL_BYTES));
      ByteBuffer buffer = ByteBuffer.allocate(TAIL_BYTES);
      while (channel.read(buffer) > 0) {
        // until full or at the end
      }
      return lastLines(new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      return "(no log: " + e.getMessage() + ")";
    }
  }

  static String lastLines(String text) {
    List<String> lines = text.lines().filter(line -> !line.isBlank()).toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
  }
}
