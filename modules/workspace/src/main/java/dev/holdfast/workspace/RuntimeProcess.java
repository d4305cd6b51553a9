package dev.holdfast.workspace;

import dev.holdfast.model.value.Text;
import dev.holdfast.process.Command;
import dev.holdfast.process.LastLines;
import dev.holdfast.process.LineListener;
import dev.holdfast.process.NoSuchProgramException;
import dev.holdfast.process.ProcessTree;
import dev.holdfast.process.RollingFile;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.redaction.ScrubbingStream;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.StepException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A running runtime. Every byte it prints is a sign of life; its lines are scrubbed and go to a
 * bounded log. When its thread is interrupted it is asked to end, and killed with all it started if
 * it does not.
 */
final class RuntimeProcess {
  private static final int LINE_BYTES = 64 << 10;
  private static final int LOG_LINE_CHARS = 8_000;
  private static final long LOG_BYTES = 10 << 20;

  /** How it ended, and what it said last. */
  record Ended(int exit, String lastLines, String lastLine) {}

  private final LastLines last = new LastLines();
  private final Scrubber scrubber;
  private final WorkspaceRun.Host host;
  private final Duration grace;

  /**
   * @param grace between being asked to end and being killed
   */
  RuntimeProcess(Scrubber scrubber, WorkspaceRun.Host host, Duration grace) {
    this.scrubber = scrubber;
    this.host = host;
    this.grace = grace;
  }

  Ended run(Command command, Path log) throws IOException, InterruptedException {
    int exit = logged(command, log);
    return new Ended(exit, last.all(), last.last());
  }

  private int logged(Command command, Path log) throws IOException, InterruptedException {
    try (RollingFile file = new RollingFile(log, LOG_BYTES);
        ScrubbingStream out = scrubber.stream(text -> keep(file, text));
        ScrubbingStream err = scrubber.stream(text -> keep(file, text))) {
      ProcessTree tree;
      try {
        tree = ProcessTree.start(command, LINE_BYTES, taking(out), taking(err));
      } catch (NoSuchProgramException missing) {
        throw new StepException(
            FailureClass.DETERMINISTIC_CONTRACT, String.valueOf(missing.getMessage()), missing);
      }
      return ended(tree);
    }
  }

  private LineListener taking(ScrubbingStream stream) {
    return new LineListener() {
      @Override
      public void line(String line, long cut) {
        stream.write(cut > 0 ? line + " (" + cut + " more)\n" : line + "\n");
      }

      @Override
      public void heard() {
        host.alive();
      }
    };
  }

  private int ended(ProcessTree tree) throws InterruptedException {
    int exit = tree.awaitOrStop(grace);
    if (Thread.interrupted()) {
      throw new InterruptedException("stopped");
    }
    return exit;
  }

  private void keep(RollingFile file, String text) {
    for (String line : text.split("\n", -1)) {
      if (line.isEmpty()) {
        continue;
      }
      String kept = Text.excerpt(line, LOG_LINE_CHARS);
      file.line(kept);
      last.add(kept);
      host.log(kept);
    }
  }
}
