package dev.holdfast.workspace;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.workspace.git.Repository;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a job of kind {@code workspace}: what is to come of it, where it begins, and by
 * which steps.
 *
 * @param constraints rules for every attempt
 * @param budgets as {@link Spending#given} has them, or in snake_case; others are refused
 */
public record WorkspaceJob(
    String objective,
    Source repository,
    List<Task> steps,
    @Nullable List<String> constraints,
    @Nullable Map<String, @Nullable Object> budgets) {

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
    if (budgets != null) {
      budgets = Spending.of(budgets).given();
    }
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
      String id, @Nullable String title, @Nullable String instructions, String runtime) {
    String shown() {
      return title == null ? id : title;
    }
  }

  /** Budgets of this job; what is not given is as the worker has it. */
  public record Spending(
      @Nullable Integer stepMaxAttempts,
      @Nullable Double stepTimeoutSeconds,
      @Nullable Double stepIdleTimeoutSeconds,
      @Nullable Integer stepNoProgressLimit,
      @Nullable Integer jobSelfHealMaxResets) {

    private static final List<String> KEYS =
        List.of(
            "stepMaxAttempts",
            "stepTimeoutSeconds",
            "stepIdleTimeoutSeconds",
            "stepNoProgressLimit",
            "jobSelfHealMaxResets");

    /** As a payload has it: in camelCase or snake_case, and nothing else beside it. */
    static Spending of(Map<String, @Nullable Object> given) {
      Map<String, Number> values = new HashMap<>();
      given.forEach(
          (key, value) -> {
            String name = name(key);
            if (value != null && values.put(name, number(key, value)) != null) {
              throw wrong("the budget '%s' is given twice".formatted(name));
            }
          });
      return new Spending(
          whole(values, KEYS.get(0)),
          fraction(values, KEYS.get(1)),
          fraction(values, KEYS.get(2)),
          whole(values, KEYS.get(3)),
          whole(values, KEYS.get(4)));
    }

    private static String name(String key) {
      return KEYS.stream()
          .filter(known -> known.equals(key) || snakeCase(known).equals(key))
          .findFirst()
          .orElseThrow(
              () ->
                  wrong(
                      "there is no budget '%s', only %s"
                          .formatted(Text.excerpt(key, 50), String.join(", ", KEYS))));
    }

    private static String snakeCase(String name) {
      return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    private static Number number(String key, Object value) {
      if (value instanceof Number number) {
        return number;
      }
      throw wrong("the budget '%s' must be a number".formatted(key));
    }

    private static @Nullable Double fraction(Map<String, Number> values, String name) {
      Number value = values.get(name);
      return value == null ? null : value.doubleValue();
    }

    private static @Nullable Integer whole(Map<String, Number> values, String name) {
      Number value = values.get(name);
      if (value != null && value.doubleValue() != value.intValue()) {
        throw wrong("the budget '%s' must be a whole number".formatted(name));
      }
      return value == null ? null : value.intValue();
    }

    /** As in the payload. */
    public Map<String, @Nullable Object> given() {
      Map<String, @Nullable Object> given = new LinkedHashMap<>();
      given.put(KEYS.get(0), stepMaxAttempts);
      given.put(KEYS.get(1), stepTimeoutSeconds);
      given.put(KEYS.get(2), stepIdleTimeoutSeconds);
      given.put(KEYS.get(3), stepNoProgressLimit);
      given.put(KEYS.get(4), jobSelfHealMaxResets);
      return given;
    }

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

  /** From 1; one more than there are steps for a step that is not of this job. */
  int indexOf(String id) {
    for (int i = 0; i < steps.size(); i++) {
      if (steps.get(i).id().equals(id)) {
        return i + 1;
      }
    }
    return steps.size() + 1;
  }

  Budgets budgets(Budgets usual) {
    return budgets == null ? usual : Spending.of(budgets).over(usual);
  }
}
