package dev.holdfast.steps;

import dev.holdfast.model.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a runtime is told of its step, and, when it is tried again, of what went wrong. Small, and
 * never the transcript: an attempt that reads all that its predecessor said makes its mistakes.
 */
record RetryContext(
    String objective,
    StepInfo step,
    List<String> constraints,
    int attempt,
    @Nullable FailureInfo failure,
    List<String> changedFiles,
    @Nullable String diffHash) {

  private static final int MOST_TEXT = 8_000;
  private static final int MOST_LINE = 500;
  private static final int MOST_FILES = 200;
  private static final int MOST_CONSTRAINTS = 50;

  record StepInfo(
      String id, int index, int of, @Nullable String title, @Nullable String instructions) {}

  record FailureInfo(
      String failureClass, String failureSignature, String summary, String strategy) {}

  static RetryContext of(WorkspaceJob job, WorkspaceJob.Task task, int index, Step.Retry retry) {
    Step.Failed last = retry.last();
    List<String> constraints = job.constraints() == null ? List.of() : job.constraints();
    List<String> files = last == null ? List.of() : last.changedFiles();
    return new RetryContext(
        Text.excerpt(job.objective(), MOST_TEXT),
        new StepInfo(
            task.id(),
            index,
            job.steps().size(),
            excerpt(task.title(), MOST_LINE),
            excerpt(task.instructions(), MOST_TEXT)),
        constraints.stream()
            .limit(MOST_CONSTRAINTS)
            .map(one -> Text.excerpt(one, MOST_LINE))
            .toList(),
        retry.attempt(),
        last == null
            ? null
            : new FailureInfo(
                last.attempt().failureClass().text(),
                last.attempt().signature(),
                last.summary(),
                last.next().text()),
        files.stream().limit(MOST_FILES).map(one -> Text.excerpt(one, MOST_LINE)).toList(),
        last == null ? null : last.attempt().diffHash());
  }

  private static @Nullable String excerpt(@Nullable String text, int most) {
    return text == null ? null : Text.excerpt(text, most);
  }
}
