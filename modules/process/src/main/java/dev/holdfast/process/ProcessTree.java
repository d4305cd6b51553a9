package dev.holdfast.process;

import java.io.File;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A program and all it starts, in a session of their own. It ends as a whole: when the program
 * itself has ended, whatever it left behind is killed.
 */
public final class ProcessTree {
  private static final Logger log = System.getLogger(ProcessTree.class.getName());
  static final File NOTHING = new File("/dev/null");
  private static final Duration DYING = Duration.ofSeconds(5);
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);
  private static final long PAUSE_MILLIS = 10;

  private static final @Nullable Path SETSID =
      Stream.of("/usr/bin/setsid", "/bin/setsid")
          .map(Path::of)
          .filter(Files::isExecutable)
          .findFirst()
          .orElse(null);

  private final String name;
  private final Process process;
  private final ProcessFamily.Marks marks;
  private final long since;
  private final LineReader out;
  private final LineReader err;

  private ProcessTree(
      String name,
      Process process,
      ProcessFamily.Marks marks,
      long since,
      LineReader out,
      LineReader err) {
    this.name = name;
    this.process = process;
    this.marks = marks;
    this.since = since;
    this.out = out;
    this.err = err;
  }

  /** For people. A shell and the JDK both report a signal this way. */
  public static String howItEnded(int exit) {
    return exit > 128 && exit < 160
        ? "was killed by signal " + (exit - 128)
        : "exited with " + exit;
  }

  /**
   * Its output goes to the listeners, in lines of at most {@code mostPerLine} bytes; it reads
   * nothing from us.
   */
  public static ProcessTree start(
      Command command, int mostPerLine, LineListener out, LineListener err)
      throws NoSuchProgramException, IOException {
    Path program =
        Programs.find(command.program(), command.folder(), command.environment().get("PATH"));
    List<String> arguments = new ArrayList<>(command.arguments());
    arguments.set(0, program.toString());
    ProcessFamily.Marks marks = OrphanKiller.marks();
    ProcessBuilder builder =
        new ProcessBuilder(inOwnSession(LimitMark.marked(marks.limit(), arguments)))
            .directory(command.folder().toFile())
            .redirectInput(NOTHING);
    builder.environment().clear();
    builder.environment().putAll(command.environment());
    builder.environment().put(ProcessFamily.MARK, marks.variable());
    long since = ProcessFamily.now();
    Process process = builder.start();
    String name = program.getFileName() + "-" + process.pid();
    Runnable exited = () -> PipeDrain.await(process);
    return new ProcessTree(
        name,
        process,
        marks,
        since,
        LineReader.start(name + "-out", process.getInputStream(), mostPerLine, out, exited),
        LineReader.start(name + "-err", process.getErrorStream(), mostPerLine, err, exited));
  }

  /** setsid replaces itself by the program, so that its pid is the program's and the session's. */
  static List<String> inOwnSession(List<String> arguments) {
    return SETSID == null
        ? arguments
        : Stream.concat(Stream.of(SETSID.toString()), arguments.stream()).toList();
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Asks all of them to end, each once: a second signal would come into the first one's trap. */
  public void terminate() {
    signal("TERM");
    each(ProcessHandle::destroy, ProcessFamily.outsideItsGroup(process, marks, since));
  }

  /** Ends all of them, and returns when none is left; false when some would not die. */
  public boolean kill() {
    signal("KILL");
    long until = System.nanoTime() + DYING.toNanos();
    Set<Long> living = ProcessFamily.of(process, marks, since);
    while (!living.isEmpty() && System.nanoTime() < until) {
      // Again and again: one of them may have started another while we looked.
      each(ProcessHandle::destroyForcibly, living);
      uninterruptibly(
          () -> {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            return true;
          });
      living = ProcessFamily.of(process, marks, since);
    }
    if (!living.isEmpty()) {
      log.log(Level.WARNING, "processes of {0} do not die: {1}", name, living);
    }
    return living.isEmpty();
  }

  /**
   * Waits until the program has ended, kills what it left behind, and hands out its last lines. Not
   * cut short by an interrupt: whoever wants it to end earlier terminates it.
   */
  public int await() {
    int exit = uninterruptibly(process::waitFor);
    // Most leave no children, and to signal a whole group takes a process of its own.
    if (!ProcessFamily.isEmpty(process, marks, since)) {
      kill();
    }
    out.finish(LAST_WORDS);
    err.finish(LAST_WORDS);
    return exit;
  }

  /**
   * The same, but an interrupt asks it to end, and kills it if it has not after {@code grace}. The
   * interrupt is kept.
   */
  public int awaitOrStop(Duration grace) {
    try {
      process.waitFor();
    } catch (InterruptedException stop) {
      terminate();
      long until = System.nanoTime() + grace.toNanos();
      uninterruptibly(
          () -> process.waitFor(until - System.nanoTime(), TimeUnit.NANOSECONDS) ? 0 : 1);
      int exit = killed();
      Thread.currentThread().interrupt();
      return exit;
    }
    return await();
  }

  private int killed() {
    kill();
    return await();
  }

  /** The whole group in one call: no process in it can escape by forking. */
  private void signal(String signal) {
    if (SETSID == null) {
      process.toHandle().destroy();
      return;
    }
    try {
      Process kill =
          new ProcessBuilder(
                  "/bin/sh", "-c", "kill -s \"$1\" -- \"-$2\"", "sh", signal, "" + process.pid())
              .redirectInput(NOTHING)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      uninterruptibly(kill::waitFor);
    } catch (IOException noKill) {
      log.log(Level.DEBUG, "the group is signalled one by one", noKill);
    }
  }

  private static void each(Consumer<ProcessHandle> signal, Set<Long> processes) {
    for (Long pid : processes) {
      ProcessHandle.of(pid).ifPresent(signal);
    }
  }

  static <T> T uninterruptibly(Callable<T> wait) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return wait.call();
        } catch (InterruptedException cutShort) {
          interrupted = true;
        } catch (Exception impossible) {
          throw new IllegalStateException(impossible);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
