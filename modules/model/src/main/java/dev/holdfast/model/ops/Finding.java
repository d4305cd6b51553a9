package dev.holdfast.model.ops;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One problem. It has no words: each client puts the code and the parameters into words of its own,
 * the command line and the API by {@code ProblemText}, the page by its {@code problems.js}.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param parameters what the problem is about: texts, numbers, flags and times
 */
public record Finding(ProblemCode problem, Map<String, Object> parameters) {
  public static final String QUEUE = "queue";
  public static final String KIND = "kind";
  public static final String VERSION = "version";
  public static final String WORKER = "worker";
  public static final String SUPERVISOR = "supervisor";

  /** Set where workers of several supervisors have the same name. */
  public static final String NAME_SHARED = "nameShared";

  public static final String SCHEDULE = "schedule";
  public static final String JOBS = "jobs";
  public static final String NOTICES = "notices";
  public static final String WORKERS = "workers";
  public static final String WORKER_NAMES = "workerNames";
  public static final String SINCE = "since";
  public static final String SECONDS = "seconds";
  public static final String REASON = "reason";
  public static final String EXIT_CODE = "exitCode";
  public static final String RESTARTS = "restarts";
  public static final String NEXT_RESTART = "nextRestart";

  /** Set where servers push the tasks of the queue to its worker. */
  public static final String PUSHED = "pushed";

  public static final String CIRCUIT_OPEN = "circuitOpen";

  public Finding {
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
  }

  public static Finding of(ProblemCode problem) {
    return new Finding(problem, Map.of());
  }

  /** For programs; it never changes. */
  public String code() {
    return problem.text();
  }

  /**
   * @param value a text, a number, a flag or an instant; null and false leave the parameter out
   */
  public Finding with(String name, @Nullable Object value) {
    if (value == null || value.equals(false)) {
      return this;
    }
    Map<String, Object> all = new LinkedHashMap<>(parameters);
    all.put(name, value);
    return new Finding(problem, all);
  }
}
