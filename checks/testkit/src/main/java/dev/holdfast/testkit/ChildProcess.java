package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A real process of the operating system, to be watched, signalled and killed. */
public final class ChildProcess implements AutoCloseable {
  private final Process process;
  private final Output output;
  // Whatever a killed process leaves behind is no longer found under it.
  private final Set<ProcessHandle> family = new LinkedHashSet<>();

  private ChildProcess(ProcessBuilder builder) {
    try {
      process = builder.redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + builder.command(), e);
    }
    output = Output.of(process);
  }

  /** A main class on the class path of the tests. */
  public static ChildProcess java(Class<?> main, String... arguments) {
    return start(javaCommand(main.getName(), List.of(), arguments));
  }

  public static ChildProcess command(String... command) {
    return start(new ProcessBuilder(command));
  }

  /** With environment and folder as the builder has them; output and errors become one stream. */
  public static ChildProcess start(ProcessBuilder builder) {
    return new ChildProcess(builder);
  }

  /** The command for a main class, to be changed before {@link #start}. */
  public static ProcessBuilder javaCommand(
      String main, List<String> jvmOptions, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command);
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** The latest lines, at most {@value Output#LIMIT} of them. */
  public List<String> lines() {
    return output.lines();
  }

  /** The first line in which the pattern is found, whether it came already or comes in time. */
  public MatchResult awaitLine(String pattern, Duration limit) {
    return output.await(Pattern.compile(pattern), limit);
  }

  /** A line for its standard input. */
  public void send(String line) {
    try {
      process.outputWriter().write(line + "\n");
      process.outputWriter().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends KILL, TERM, INT, STOP, CONT or any other signal the system knows by name. */
  public void signal(String name) {
    rememberFamily();
    // By a shell, whose kill is built in; there may be no such program.
    ProcessBuilder kill =
        new ProcessBuilder("sh", "-c", "kill -s \"$1\" \"$2\"", "sh", name, Long.toString(pid()));
    try (ChildProcess sent = start(kill)) {
      if (sent.awaitExit(Soon.SOON) != 0) {
        throw new IllegalStateException("no signal " + name + ": " + sent.lines());
      }
    }
  }

  /** The exit code; 128 plus the signal's number if one ended it. */
  public int awaitExit(Duration limit) {
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("still running after " + limit + ": " + output.tail());
      }
      output.awaitEnd(limit);
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Kills it, its descendants, and what it left behind if a signal of ours ended it. */
  @Override
  public void close() {
    rememberFamily();
    process.destroyForcibly();
    family.forEach(ProcessHandle::destroyForcibly);
    process.onExit().join();
  }

  private void rememberFamily() {
    process.descendants().forEach(family::add);
  }
}
