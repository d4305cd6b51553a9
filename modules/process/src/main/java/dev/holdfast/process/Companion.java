package dev.holdfast.process;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A process of our own kind that works beside this one. It listens to its standard input: what is
 * said there it does, and when that ends, this process is gone, and it ends as well. It is in a
 * session of its own, so that Ctrl-C reaches it through us alone.
 */
public final class Companion {
  private static final Logger log = System.getLogger(Companion.class.getName());
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);

  /** The system counts the time a process began in hundredths, and its own start in seconds. */
  private static final Duration SAME_START = Duration.ofSeconds(2);

  private final Process process;
  private final LineReader output;

  private Companion(Process process, LineReader output) {
    this.process = process;
    this.output = output;
  }

  /**
   * @param environment besides our own, which it inherits
   */
  public static Companion start(
      List<String> command,
      Path folder,
      Map<String, String> environment,
      int mostPerLine,
      LineListener output)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(ProcessTree.inOwnSession(command))
            .directory(folder.toFile())
            .redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    return new Companion(
        process,
        LineReader.start(
            "output-" + process.pid(),
            process.getInputStream(),
            mostPerLine,
            output,
            () -> PipeDrain.await(process)));
  }

  public long pid() {
    return process.pid();
  }

  /** With the pid it names this process, and no other that ever was or will be here. */
  public Instant startedAt() {
    return process.info().startInstant().orElse(Instant.EPOCH);
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Of one that has ended; a signal counts as 128 and its number. */
  public int exitCode() {
    return process.exitValue();
  }

  /** Calls back once it has ended. */
  public void whenEnded(Runnable then) {
    var unused = process.onExit().thenRun(then);
  }

  /** Sends a line to its standard input. Errors are ignored: the process has ended then. */
  public void send(String line) {
    try {
      OutputStream input = process.getOutputStream();
      input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      input.flush();
    } catch (IOException e) {
      log.log(Level.DEBUG, "process {0} does not read: {1}", pid(), e.getMessage());
    }
  }

  // Signals are sent by the handle: Process.destroy closes the streams as well, so that the last
  // output is lost, and the process takes the end of its input for the death of its supervisor.

  public void terminate() {
    process.toHandle().destroy();
  }

  public void kill() {
    process.toHandle().destroyForcibly();
  }

  /** Hands out what it has written last. */
  public void finish() {
    output.finish(LAST_WORDS);
  }

  /** Kills a process that an earlier process of ours started. False when there is none. */
  public static boolean killIfSame(long pid, Instant startedAt) {
    return ProcessHandle.of(pid)
        .filter(handle -> isSame(handle, startedAt))
        .map(ProcessHandle::destroyForcibly)
        .orElse(false);
  }

  /** Whether the process that once had this pid still lives, rather than another one with it. */
  public static boolean isAlive(long pid, Instant startedAt) {
    return ProcessHandle.of(pid).filter(handle -> isSame(handle, startedAt)).isPresent();
  }

  private static boolean isSame(ProcessHandle handle, Instant startedAt) {
    return handle.isAlive()
        && handle
            .info()
            .startInstant()
            .filter(at -> Duration.between(at, startedAt).abs().compareTo(SAME_START) < 0)
            .isPresent();
  }
}
