package dev.holdfast.model.ops;

import dev.holdfast.model.value.Plural;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One problem.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param code for programs; it never changes
 * @param gist the problem without numbers, which stays the same while the problem lasts
 * @param message the problem with its numbers
 * @param cliHint what to do, with the command line
 * @param httpHint what to do, with the API
 * @param parameters what the problem is about, for clients that word it themselves: texts, numbers
 *     and times
 */
public record Finding(
    String code,
    String gist,
    String message,
    String cliHint,
    String httpHint,
    Map<String, Object> parameters) {
  public static final String QUEUE = "queue";
  public static final String WORKER = "worker";
  public static final String SUPERVISOR = "supervisor";
  public static final String SCHEDULE = "schedule";
  public static final String JOBS = "jobs";
  public static final String SINCE = "since";
  public static final String REASON = "reason";

  public Finding {
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
  }

  public Finding(String code, String gist, String message, String cliHint, String httpHint) {
    this(code, gist, message, cliHint, httpHint, Map.of());
  }

  public static Finding of(String code, String message, String cliHint) {
    return new Finding(code, message, message, cliHint, cliHint);
  }

  public static Finding of(String code, String message, String cliHint, String httpHint) {
    return new Finding(code, message, message, cliHint, httpHint);
  }

  /**
   * A problem with a number of jobs, which is between the two halves of the sentence.
   *
   * @param one the second half after "1 job"
   * @param several the second half after "2 jobs"
   */
  public static Finding counting(
      String code,
      String before,
      long jobs,
      String one,
      String several,
      String cliHint,
      String httpHint) {
    return new Finding(
            code,
            before + "jobs" + several,
            before + Plural.of(jobs, "job") + (jobs == 1 ? one : several),
            cliHint,
            httpHint)
        .with(JOBS, jobs);
  }

  /**
   * @param value a text, a number or an instant; null leaves the parameter out
   */
  public Finding with(String name, @Nullable Object value) {
    if (value == null) {
      return this;
    }
    Map<String, Object> all = new LinkedHashMap<>(parameters);
    all.put(name, value);
    return new Finding(code, gist, message, cliHint, httpHint, all);
  }
}
