package dev.holdfast.workspace;

import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.value.JsonFields;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitForm;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.workspace.git.Repository;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a job of kind {@code workspace}: what is to come of it, where it begins, and by
 * which steps.
 *
 * @param steps each a {@link Task}, or the fields of one, or those of a {@link WaitStep}
 * @param constraints rules for every attempt
 * @param budgets as {@link Spending#given} has them, or in snake_case; others are refused
 */
public record WorkspaceJob(
    String objective,
    Source repository,
    List<?> steps,
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
    steps = checked(steps);
    constraints = constraints == null ? List.of() : List.copyOf(constraints);
    if (budgets != null) {
      budgets = Spending.of(budgets).given();
    }
  }

  private static List<Object> checked(List<?> steps) {
    Set<String> ids = new HashSet<>();
    List<Object> checked = new ArrayList<>();
    boolean works = false;
    for (Object step : steps) {
      Object known = checked(step, checked.size());
      if (!ids.add(idOf(known))) {
        throw wrong("two steps have the id '" + idOf(known) + "'");
      }
      works |= known instanceof Task;
      checked.add(known);
    }
    if (!works) {
      throw wrong("'steps' must hold at least one with a 'runtime'");
    }
    return List.copyOf(checked);
  }

  private static Object checked(@Nullable Object step, int place) {
    String at = "a workspace job: steps[" + place + "]";
    try {
      Object known = step instanceof Task ? step : read(JsonFields.of(step), step);
      at += " '" + Text.excerpt(Text.inert(idOf(known)), Limits.NAME_CHARS) + "'";
      Limits.stepId(idOf(known));
      if (!(known instanceof Task)) {
        var unused = WaitStep.read(JsonFields.of(known));
      }
      return known;
    } catch (RefusedException refused) {
      throw refused.at(at);
    }
  }

  /** A wait stays as it was written, for that is how it is written again. */
  private static Object read(JsonFields fields, @Nullable Object step) {
    String id = fields.text("id");
    if (fields.has("wait") && step instanceof Map<?, ?> wait) {
      return Collections.unmodifiableMap(new LinkedHashMap<>(wait));
    }
    return new Task(
        id, fields.textOrNull("title"), fields.textOrNull("instructions"), fields.text("runtime"));
  }

  private static String idOf(Object step) {
    return step instanceof Task task ? task.id() : String.valueOf(((Map<?, ?>) step).get("id"));
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

  /** One of the steps, in their order. */
  sealed interface Entry {
    String id();

    @Nullable String title();

    default String shown() {
      String title = title();
      return title == null ? id() : title;
    }
  }

  /**
   * A step that a program does.
   *
   * @param runtime the name under which the operator has a command
   */
  public record Task(
      String id, @Nullable String title, @Nullable String instructions, String runtime)
      implements Entry {}

  /**
   * A wait between two steps: {@code {"wait": "approval", "id": "release", "question": "Ship
   * it?"}}.
   *
   * @param goesOn whether the job goes on after a rejection, or when no signal has come in time
   */
  record WaitStep(@Nullable String title, Wait asked, boolean goesOn) implements Entry {
    @Override
    public String id() {
      return asked.id();
    }

    static WaitStep read(JsonFields fields) {
      String title = fields.textOrNull("title");
      Wait asked = WaitForm.read(fields, "wait");
      boolean goesOn =
          switch (asked) {
            case Wait.ForApproval approval -> goesOn(fields, "onReject");
            case Wait.ForSignal signal -> goesOn(fields, "onTimeout");
            case Wait.Sleep sleep -> false;
            case Wait.SleepUntil sleep -> false;
            case Wait.ForChildren children ->
                throw fields.wrong(
                    "wait", "must be sleep, signal or approval: a workspace job starts no others");
          };
      fields.end();
      return new WaitStep(title, asked, goesOn);
    }

    private static boolean goesOn(JsonFields fields, String name) {
      String word = fields.textOrNull(name);
      if (word == null || word.equalsIgnoreCase("fail")) {
        return false;
      }
      if (word.equalsIgnoreCase("continue")) {
        return true;
      }
      throw fields.wrong(name, "must be fail or continue");
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

  /**
   * @param index from 1
   */
  Entry entry(int index) {
    Object step = steps.get(index - 1);
    return step instanceof Task task ? task : WaitStep.read(JsonFields.of(step));
  }

  /** From 1; one more than there are steps for a step that is not of this job. */
  int indexOf(String id) {
    for (int i = 0; i < steps.size(); i++) {
      if (idOf(steps.get(i)).equals(id)) {
        return i + 1;
      }
    }
    return steps.size() + 1;
  }

  /** What an operator asks of this step or of one before it, if anything. */
  Optional<PendingCommand.Recovery> asked(Optional<PendingCommand.Recovery> pending, int index) {
    String step = idOf(steps.get(index - 1));
    return pending.filter(wanted -> wanted.concerns(step, id -> indexOf(id) < index));
  }

  Budgets budgets(Budgets usual) {
    return budgets == null ? usual : Spending.of(budgets).over(usual);
  }
}
