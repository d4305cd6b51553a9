package dev.holdfast.workspace;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import dev.holdfast.process.Command;
import dev.holdfast.process.ProcessTree;
import dev.holdfast.worker.steps.Classifier;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.RuntimeFailedException;
import dev.holdfast.worker.steps.Step;
import dev.holdfast.worker.steps.StepException;
import dev.holdfast.workspace.git.Synced;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One step's program: what it is given, and what its exit code and result file say. */
final class StepRuntime {
  private static final Logger log = LoggerFactory.getLogger(StepRuntime.class);
  private static final int SUMMARY_CHARS = 500;
  private static final int MOST_RESULT_BYTES = 64 << 10;

  private final WorkspaceRun.Scope scope;
  private final WorkspaceJob.Task task;
  private final int index;
  private final StepHistory history;
  private final RuntimeCommand command;

  StepRuntime(WorkspaceRun.Scope scope, WorkspaceJob.Task task, int index, StepHistory history) {
    this.scope = scope;
    this.task = task;
    this.index = index;
    this.history = history;
    RuntimeCommand named = scope.site().runtimes().get(task.runtime());
    if (named == null) {
      throw new StepException(
          FailureClass.DETERMINISTIC_CONTRACT,
          "no runtime '%s' here: name its command under 'runtimes' in holdfast.yaml"
              .formatted(task.runtime()));
    }
    this.command = named;
  }

  /** What a runtime may say about its step, in the file that HOLDFAST_STEP_RESULT names. */
  record StepResultFile(
      @Nullable String summary, @Nullable String failureClass, @Nullable String message) {}

  /**
   * @return the summary of what it has done
   * @throws RuntimeFailedException when its exit code or its result file says that it has failed
   */
  String run(Path work, Step.Retry retry) throws IOException, InterruptedException {
    Path state = Files.createDirectories(scope.site().folder().resolve("state"));
    Path result = state.resolve("result.json");
    Files.deleteIfExists(result);
    scope.host().log("── step %s, attempt %d".formatted(task.id(), retry.attempt()));
    RuntimeProcess.Ended ended =
        new RuntimeProcess(scope.scrubber(), scope.host(), scope.site().grace())
            .run(
                new Command(command.command(), work, environment(state, result, retry)),
                logOf(retry.attempt()));
    StepResultFile file = resultFile(result);
    check(ended, file);
    return summary(ended, file);
  }

  private Path logOf(int attempt) throws IOException {
    Path logs = Files.createDirectories(scope.site().folder().resolve("logs"));
    return logs.resolve("step-%04d-attempt-%d.log".formatted(index, attempt));
  }

  private Map<String, String> environment(Path state, Path result, Step.Retry retry)
      throws IOException {
    Map<String, String> all = new HashMap<>(scope.site().environment());
    // Some programs refuse to commit without a name.
    for (String who : List.of("AUTHOR", "COMMITTER")) {
      all.put("GIT_" + who + "_NAME", "Holdfast");
      all.put("GIT_" + who + "_EMAIL", "holdfast@localhost");
    }
    all.putAll(command.environment());
    Path context = state.resolve("retry-context.json");
    Synced.write(
        context,
        scope
            .codec()
            .encode(
                RetryContext.of(
                    scope.job(),
                    task,
                    index,
                    retry,
                    history.waitsBefore(index, scope.codec()),
                    scope.scrubber()::scrub))
            .text());
    all.put("HOLDFAST_RETRY_CONTEXT", context.toString());
    all.put("HOLDFAST_STEP_ID", task.id());
    all.put("HOLDFAST_STEP_INDEX", Integer.toString(index));
    all.put("HOLDFAST_STEP_ATTEMPT", Integer.toString(retry.attempt()));
    all.put("HOLDFAST_STEP_RESULT", result.toString());
    return all;
  }

  private @Nullable StepResultFile resultFile(Path result) {
    try {
      long size = Files.size(result);
      String text = size > MOST_RESULT_BYTES ? "" : Files.readString(result);
      // It may hold secrets, so it is not kept.
      Files.delete(result);
      if (size > MOST_RESULT_BYTES) {
        throw new IOException(
            "it has %,d bytes, and may have %,d".formatted(size, MOST_RESULT_BYTES));
      }
      return scope.codec().decode(new Json(text), StepResultFile.class);
    } catch (NoSuchFileException nothing) {
      return null;
    } catch (IOException | RefusedException unreadable) {
      log.info(
          "step {}: its result could not be read: {}",
          task.id(),
          scope.scrubber().scrub(unreadable.toString()));
      return null;
    }
  }

  private void check(RuntimeProcess.Ended ended, @Nullable StepResultFile file) {
    String kind = file == null ? null : file.failureClass();
    if (ended.exit() == 0 && kind == null) {
      return;
    }
    FailureClass failureClass =
        kind == null ? Classifier.ofExit(ended.exit()) : FailureClass.of(kind);
    String message = file == null ? null : file.message();
    throw new RuntimeFailedException(
        failureClass,
        "%s %s: %s"
            .formatted(
                task.runtime(),
                ProcessTree.howItEnded(ended.exit()),
                message == null ? ended.lastLine() : message),
        ended.lastLines());
  }

  private String summary(RuntimeProcess.Ended ended, @Nullable StepResultFile file) {
    String text = file == null || file.summary() == null ? ended.lastLine() : file.summary();
    return Text.excerpt(scope.scrubber().scrub(text), SUMMARY_CHARS);
  }
}
