package dev.holdfast.supervisor;

import dev.holdfast.process.RollingFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * The output of the processes of one worker: written to a file and passed on to an observer, and
 * its end kept in the database for the page.
 */
public final class WorkerLog implements AutoCloseable {
  static final int LONGEST_LINE = 16 << 10;

  private final String component;
  private final RollingFile file;
  private final Consumer<String> echo;
  private final WorkerLogTail tail;

  WorkerLog(String component, Path logs, long most, Consumer<String> echo, WorkerLogTail tail) {
    this.component = component;
    this.tail = tail;
    try {
      Files.createDirectories(logs);
    } catch (IOException cannot) {
      throw new UncheckedIOException("the folder of logs cannot be created: " + logs, cannot);
    }
    this.file = new RollingFile(file(logs, component), most);
    this.echo = echo;
  }

  /** The log file of a worker; the file before it is beside it, with the suffix {@code .1}. */
  public static Path file(Path logs, String component) {
    return logs.resolve(component.replace(':', '-') + ".log");
  }

  void line(String line) {
    file.line(line);
    echo.accept(component + " | " + line);
    tail.line(line);
  }

  WorkerLogTail tail() {
    return tail;
  }

  @Override
  public void close() {
    file.close();
  }
}
