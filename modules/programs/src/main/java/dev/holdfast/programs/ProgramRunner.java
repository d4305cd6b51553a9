package dev.holdfast.programs;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.process.Command;
import dev.holdfast.process.LineListener;
import dev.holdfast.process.NoSuchProgramException;
import dev.holdfast.process.ProcessTree;
import dev.holdfast.process.SafeEnvironment;
import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.JobContext;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs programs for handlers. A program starts in the attempt's scratch folder, sees of the
 * worker's environment only what is harmless, such as PATH and LANG, and is attached to the
 * attempt: when the handler should stop, it is asked to end with all it has started, and killed
 * after the grace period, or at once when the lease is lost. However it ends, nothing it started is
 * left behind.
 */
public final class ProgramRunner {
  /** The longest line a program may print and have read whole: a result fits. */
  static final int LINE_BYTES = (1 << 20) + (1 << 16);

  static final String PROGRAM_MISSING = "PROGRAM_MISSING";
  static final String PROGRAM_NOT_STARTED = "PROGRAM_NOT_STARTED";

  private ProgramRunner() {}

  /**
   * Returns the program's exit code. Throws {@link dev.holdfast.worker.handler.CancelledException}
   * when the handler should stop.
   *
   * @param out gets the lines of its standard output, on a thread of their own
   * @param err the same for standard error
   */
  public static int run(
      JobContext context, List<String> command, Consumer<String> out, Consumer<String> err) {
    return run(
        context,
        command,
        Map.of(),
        (line, cut) -> out.accept(line),
        (line, cut) -> err.accept(line));
  }

  static int run(
      JobContext context,
      List<String> command,
      Map<String, String> environment,
      LineListener out,
      LineListener err) {
    context.checkCancelled();
    Map<String, String> visible = new HashMap<>(SafeEnvironment.of(System.getenv()));
    visible.putAll(environment);
    ProcessTree tree = started(new Command(command, context.scratch(), visible), out, err);
    JobContext.Attached attached = context.attach(new AttachedTree(tree));
    try {
      // An interrupt may be for a step alone; the attempt continues without it.
      int exit = tree.awaitOrStop(context.grace());
      context.checkCancelled();
      return exit;
    } finally {
      attached.close();
    }
  }

  private record AttachedTree(ProcessTree tree) implements Attachment {
    @Override
    public void terminate() {
      tree.terminate();
    }

    @Override
    public void kill() {
      tree.kill();
    }
  }

  private static ProcessTree started(Command command, LineListener out, LineListener err) {
    try {
      return ProcessTree.start(command, LINE_BYTES, out, err);
    } catch (NoSuchProgramException missing) {
      throw FailedException.of(
          FailureCategory.CONFIGURATION, PROGRAM_MISSING, String.valueOf(missing.getMessage()));
    } catch (IOException e) {
      throw FailedException.of(
          FailureCategory.INFRASTRUCTURE,
          PROGRAM_NOT_STARTED,
          command.arguments().getFirst() + " could not be started: " + e.getMessage());
    }
  }
}
