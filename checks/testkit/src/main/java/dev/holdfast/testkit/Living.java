package dev.holdfast.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a process runs; a zombie, whose parent has not read its exit code yet, does not. */
public final class Living {
  private Living() {}

  public static boolean is(long pid) {
    try {
      String stat =
          Files.readString(Path.of("/proc", "" + pid, "stat"), StandardCharsets.ISO_8859_1);
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return false;
    }
  }
}
