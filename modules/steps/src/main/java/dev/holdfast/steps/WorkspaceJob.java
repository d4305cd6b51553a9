package dev.holdfast.steps;

import dev.holdfast.model.Limits;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RefusedException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a job of kind {@code workspace}: what is to come of it, where it begins, and by
 * which steps.
 *
 * @param constraints what every attempt is told to mind
 */
public record WorkspaceJob(
    String objective,
    Source repository,
    List<Task> steps,
    @Nullable List<String> constraints,
    @Nullable Spending budgets) {

  public static final String KIND = "workspace";

  /** Names come without a check from whatever made the payload. */
  @SuppressWarnings({"ConstantValue", "NullableProblems"})
  public WorkspaceJob {
    if (objective == null || objective.isBlank()) {
      throw wrong("'objective' is missing");
    }
    if (repository == null || repository.url() == null) {
      throw wrong("'repository' needs a 'url'");
    }
    if (steps == null || steps.isEmpty() || steps.size() > Limits.STEPS) {
      throw wrong("'steps' must hold 1 to %,d steps".formatted(Limits.STEPS));
    }
    Set<String> ids = new HashSet<>();
    for (Task step : steps) {
      if (step == null || step.id() == null || step.runtime() == null) {
        throw wrong("each step needs an 'id' and a 'runtime'");
      }
      if (!ids.add(Limits.stepId(step.id()))) {
        throw wrong("two steps have the id '" + step.id() + "'");
      }
    }
    steps = List.copyOf(steps);
    constraints = constraints == null ? List.of() : List.copyOf(constraints);
  }

  private static RefusedException wrong(String what) {
    return new RefusedException(Refusal.PAYLOAD_MISMATCH, "a workspace job: " + what);
  }

  /**
   * @param ref HEAD unless given
   */
  public record Source(String url, @Nullable String ref) {
    Repository repository() {
      return new Repository(url, ref == null ? "HEAD" : ref);
    }
  }

  /**
   * One step.
   *
   * @param runtime the name under which the operator has a command
   */
  public record Task(
      String id, @Nullable String title, @Nullable String instructions, String runtime) {}

  /** Budgets of this job; what is not given is as the worker has it. */
  public record Spending(
      @Nullable Integer stepMaxAttempts,
      @Nullable Double stepTimeoutSeconds,
      @Nullable Double stepIdleTimeoutSeconds,
      @Nullable Integer stepNoProgressLimit,
      @Nullable Integer jobSelfHealMaxResets) {

    Budgets over(Budgets usual) {
      return new Budgets(
          stepMaxAttempts == null ? usual.stepMaxAttempts() : stepMaxAttempts,
          seconds(stepTimeoutSeconds, usual.stepTimeout()),
          seconds(stepIdleTimeoutSeconds, usual.stepIdleTimeout()),
          stepNoProgressLimit == null ? usual.stepNoProgressLimit() : stepNoProgressLimit,
          jobSelfHealMaxResets == null ? usual.jobMaxResets() : jobSelfHealMaxResets);
    }

    private static Duration seconds(@Nullable Double given, Duration usual) {
      return given == null ? usual : Duration.ofMillis(Math.round(given * 1_000));
    }
  }

  Budgets budgets(Budgets usual) {
    return budgets == null ? usual : budgets.over(usual);
  }
}
