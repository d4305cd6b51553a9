package dev.holdfast.chaos.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Path;

/**
 * A process that outlives this one, even a kill -9, and then ends what was started in the folders
 * it was told of, and deletes them. It learns of our end by the end of the pipe between us; after
 * an orderly end nothing is left for it to do.
 */
public final class Watchdog implements AutoCloseable {
  private static final String SCRIPT =
      """
      folders=
      while IFS= read -r folder; do
        folders="$folders $folder"
      done
      for folder in $folders; do
        for round in 1 2 3; do
          for process in /proc/[0-9]*; do
            case $(readlink "$process/cwd" 2>/dev/null) in
              "$folder" | "$folder"/*) kill -9 "${process#/proc/}" 2>/dev/null ;;
            esac
          done
        done
      done
      for folder in $folders; do
        while read -r device place rest; do
          case $place in
            "$folder"/*) umount --lazy "$place" ;;
          esac
        done < /proc/mounts
        case $folder in
          /sys/fs/cgroup/*) # Until the last process in it is gone.
            for round in 1 2 3 4 5; do
              [ -d "$folder" ] || break
              rmdir "$folder" || sleep 1
            done ;;
          *) rm -rf "$folder" ;;
        esac
      done
      """;

  private final Process process;
  private final Writer folders;

  private Watchdog(Process process) {
    this.process = process;
    this.folders = process.outputWriter();
  }

  /** In a session of its own: a signal for ours is not for it. */
  public static Watchdog start() {
    try {
      return start("setsid", "sh", "-c", SCRIPT);
    } catch (IOException notInstalled) {
      try {
        return start("sh", "-c", SCRIPT);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static Watchdog start(String... command) throws IOException {
    return new Watchdog(
        new ProcessBuilder(command)
            .directory(Path.of("/").toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start());
  }

  /** One of our own, without spaces in its name; nobody else works in it. */
  public synchronized void watch(Path folder) {
    try {
      folders.write(folder.toAbsolutePath() + "\n");
      folders.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns when nothing is left. */
  @Override
  public void close() {
    try {
      folders.close();
    } catch (IOException ended) {
      // It has nothing to read any more.
    }
    process.onExit().join();
  }
}
