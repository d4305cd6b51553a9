package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** One bash that runs command after command, some of them in the background. */
final class Shell implements AutoCloseable {
  // More than a command may wait for: some build something.
  private static final Duration TIMEOUT = SOON.multipliedBy(3);
  private static final Pattern END = Pattern.compile("\n\u0001(\\d+)\u0001\n");
  private static final Pattern ASSIGNMENTS =
      Pattern.compile("^((?:\\w+=(?:'[^']*'|\"[^\"]*\"|[^\\s'\"]*) +)*)");

  record Ended(int code, String output) {}

  private final Path files;
  private final Process bash;
  private final StringBuffer printed = new StringBuffer();
  private int count;

  /**
   * @param files where the commands and what the ones in the background print is kept
   */
  Shell(Path folder, Path files, Map<String, String> environment) throws IOException {
    this.files = files;
    ProcessBuilder builder =
        new ProcessBuilder("bash", "--norc", "--noprofile")
            .directory(folder.toFile())
            .redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().putAll(environment);
    bash = builder.start();
    Thread.ofVirtual().start(this::read);
    // Whatever is set is also there for those in the background, which have a bash of their own.
    send("set -a; OUTPUT='" + output() + "'");
  }

  private void read() {
    try (Reader reader = bash.inputReader(StandardCharsets.UTF_8)) {
      char[] buffer = new char[8192];
      for (int n = reader.read(buffer); n >= 0; n = reader.read(buffer)) {
        printed.append(buffer, 0, n);
      }
    } catch (IOException closed) {
      printed.append("(output lost: ").append(closed.getMessage()).append(')');
    }
  }

  private void send(String line) throws IOException {
    bash.outputWriter(StandardCharsets.UTF_8).write(line + "\n");
    bash.outputWriter(StandardCharsets.UTF_8).flush();
  }

  /** The file that {@code $OUTPUT} names. */
  Path output() {
    return files.resolve("output");
  }

  private Path file(String ending) {
    return files.resolve(count + ending);
  }

  /** Runs it to its end. */
  Ended run(String command) throws IOException {
    count++;
    Files.writeString(file(".sh"), command + "\n");
    printed.setLength(0);
    send(". '" + file(".sh") + "' </dev/null; printf '\\n\\001%d\\001\\n' $?");
    Matcher end =
        Awaitility.await(command)
            .atMost(TIMEOUT)
            .pollInterval(Duration.ofMillis(20))
            .until(() -> END.matcher(printed), Matcher::find);
    return new Ended(Integer.parseInt(end.group(1)), printed.substring(0, end.start()));
  }

  /** Starts it, and returns at once. */
  Background start(String command) throws IOException {
    count++;
    String replaced = ASSIGNMENTS.matcher(command).replaceFirst("$1exec ");
    Files.writeString(file(".sh"), "echo $$ >'%s'\n%s\n".formatted(file(".pid"), replaced));
    Files.createFile(file(".log"));
    Background started = new Background(command, file(".pid"), file(".log"), file(".exit"));
    send(
        "{ bash '%s' </dev/null >'%s' 2>&1; echo $? >'%s'; } &"
            .formatted(file(".sh"), file(".log"), file(".exit")));
    return started;
  }

  /** A command that was not waited for. */
  static final class Background {
    private final String command;
    private final Path pid;
    private final Path log;
    private final Path exit;
    private boolean stopped;

    private Background(String command, Path pid, Path log, Path exit) {
      this.command = command;
      this.pid = pid;
      this.log = log;
      this.exit = exit;
    }

    String command() {
      return command;
    }

    /** Whether it was sent a signal to end. */
    boolean isStopped() {
      return stopped;
    }

    String output() {
      try {
        return Files.readString(log);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    boolean hasEnded() {
      return Files.exists(exit);
    }

    void terminate() throws IOException {
      stopped = true;
      ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
          .ifPresent(ProcessHandle::destroy);
    }

    int awaitExit() {
      return Integer.parseInt(
          Awaitility.await(command)
              .atMost(SOON)
              .until(() -> hasEnded() ? Files.readString(exit).strip() : "", it -> !it.isEmpty()));
    }
  }

  @Override
  public void close() {
    bash.destroyForcibly();
    bash.onExit().join();
  }
}
