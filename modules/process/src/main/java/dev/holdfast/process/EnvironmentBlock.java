package dev.holdfast.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The environment that this process was started with, as Linux keeps it for others to see: every
 * process of its user, and so every program it runs, can read {@code /proc/<pid>/environ}. That is
 * the process's own memory, and is overwritten here. Java has read it before, and has a copy.
 */
public final class EnvironmentBlock {
  private static final Logger log = System.getLogger(EnvironmentBlock.class.getName());
  private static final Path STAT = Path.of("/proc/self/stat");
  // Numbered from 1 in proc(5), where the second, which may hold spaces, ends with a parenthesis.
  private static final int BEFORE = 3;
  private static final int START = 50;
  private static final int END = 51;
  private static final int MOST_BYTES = 16 << 20;

  private EnvironmentBlock() {}

  /**
   * Empties all variables but those that any program may see. Processes that are started later with
   * this one's environment get Java's copy, when the builder was asked for it. Elsewhere than on
   * Linux nothing happens.
   */
  public static void hideSecrets() {
    if (System.getenv().isEmpty() || !Files.isReadable(STAT)) {
      return;
    }
    try (RandomAccessFile memory = new RandomAccessFile("/proc/self/mem", "rw")) {
      String stat = Files.readString(STAT, StandardCharsets.ISO_8859_1);
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).strip().split(" ", -1);
      long start = Long.parseLong(fields[START - BEFORE]);
      long size = Long.parseLong(fields[END - BEFORE]) - start;
      if (start > 0 && size > 0 && size <= MOST_BYTES) {
        byte[] block = new byte[(int) size];
        memory.seek(start);
        memory.readFully(block);
        hide(block);
        memory.seek(start);
        memory.write(block);
      }
    } catch (IOException | RuntimeException forbidden) {
      log.log(Level.DEBUG, "the environment stays visible to other processes", forbidden);
    }
  }

  private static void hide(byte[] block) {
    int begin = 0;
    for (int i = 0; i < block.length; i++) {
      if (block[i] == 0) {
        hide(block, begin, i);
        begin = i + 1;
      }
    }
  }

  private static void hide(byte[] block, int begin, int end) {
    int equals = begin;
    while (equals < end && block[equals] != '=') {
      equals++;
    }
    String name = new String(block, begin, equals - begin, StandardCharsets.UTF_8);
    if (!SafeEnvironment.isSafe(name) && !name.equals(ProcessFamily.MARK)) {
      Arrays.fill(block, Math.min(equals + 1, end), end, (byte) 0);
    }
  }
}
