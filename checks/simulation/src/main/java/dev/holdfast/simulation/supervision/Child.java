package dev.holdfast.simulation.supervision;

import dev.holdfast.process.LineListener;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Stands for {@code Companion}: a worker process as its supervisor has it in hand. */
public abstract class Child {
  private final SimulatedProcess parent = SimulatedProcess.current();
  private final List<Runnable> whenEnded = new ArrayList<>();

  /** Called by the supervisor. */
  public static Child start(
      List<String> command,
      Path folder,
      Map<String, String> environment,
      int mostPerLine,
      LineListener output) {
    return Database.current()
        .watch()
        .started(
            command.get(command.indexOf("--component") + 1),
            Integer.parseInt(command.get(command.indexOf("--incarnation") + 1)));
  }

  public static boolean killIfSame(long pid, Instant startedAt) {
    return false;
  }

  public static boolean isAlive(long pid, Instant startedAt) {
    return false;
  }

  public abstract long pid();

  public Instant startedAt() {
    return Instant.EPOCH;
  }

  public abstract boolean isAlive();

  public abstract int exitCode();

  public abstract void send(String word);

  public abstract void terminate();

  public abstract void kill();

  public void finish() {}

  public void whenEnded(Runnable then) {
    whenEnded.add(then);
  }

  /** Tells the supervisor, on a thread of its process. */
  protected void tellEnd() {
    whenEnded.forEach(each -> parent.start("exit", each));
  }
}
