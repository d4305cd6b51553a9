package dev.holdfast.workspace;

import dev.holdfast.model.value.Text;
import dev.holdfast.worker.steps.Step;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What a runtime gets to know about its step and, when the step is retried, about the failure.
 * Small, and never the transcript: a runtime that reads its predecessor's transcript repeats its
 * mistakes.
 *
 * <p>Texts of the job and of operators are passed on as they were written. Texts of an earlier
 * attempt are scrubbed one by one: scrubbed as a whole, this would not stay JSON.
 *
 * @param operator null when no operator has intervened
 * @param waits what the waits before this step have brought, by their ids
 */
record RetryContext(
    String objective,
    StepInfo step,
    List<String> constraints,
    int attempt,
    @Nullable FailureInfo failure,
    @Nullable OperatorInfo operator,
    List<String> changedFiles,
    @Nullable String diffHash,
    Map<String, Map<String, Object>> waits) {

  private static final int MOST_LINE = 500;
  private static final int MOST_FILES = 200;
  private static final int MOST_REQUESTS = 10;

  record StepInfo(
      String id, int index, int of, @Nullable String title, @Nullable String instructions) {}

  record FailureInfo(
      String failureClass, String failureSignature, String summary, String strategy) {}

  record OperatorInfo(List<RequestInfo> requests, List<String> changedFiles) {}

  record RequestInfo(String action, String requestedBy, String reason) {}

  static RetryContext of(
      WorkspaceJob job,
      WorkspaceJob.Task task,
      int index,
      Step.Retry retry,
      Map<String, Map<String, Object>> waits,
      UnaryOperator<String> scrub) {
    Step.Failed last = retry.last();
    List<String> constraints = job.constraints();
    return new RetryContext(
        job.objective(),
        new StepInfo(task.id(), index, job.steps().size(), task.title(), task.instructions()),
        constraints == null ? List.of() : constraints,
        retry.attempt(),
        last == null
            ? null
            : new FailureInfo(
                last.attempt().failureClass().text(),
                scrub.apply(last.attempt().signature()),
                scrub.apply(last.summary()),
                last.next().text()),
        operator(retry.operators(), scrub),
        last == null ? List.of() : files(last.changedFiles(), scrub),
        last == null ? null : last.attempt().diffHash(),
        waits);
  }

  private static @Nullable OperatorInfo operator(
      Step.Operators operators, UnaryOperator<String> scrub) {
    List<Step.Request> asked = operators.requests();
    return operators.equals(Step.Operators.NONE)
        ? null
        : new OperatorInfo(
            asked.stream()
                .skip(Math.max(0, asked.size() - MOST_REQUESTS))
                .map(
                    each ->
                        new RequestInfo(each.action().text(), each.requestedBy(), each.reason()))
                .toList(),
            files(operators.changedFiles(), scrub));
  }

  private static List<String> files(List<String> names, UnaryOperator<String> scrub) {
    return names.stream()
        .limit(MOST_FILES)
        .map(name -> Text.excerpt(scrub.apply(name), MOST_LINE))
        .toList();
  }
}
