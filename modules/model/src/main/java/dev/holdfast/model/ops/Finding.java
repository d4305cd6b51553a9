package dev.holdfast.model.ops;

import dev.holdfast.model.value.Plural;

/**
 * One problem.
 *
 * @param code for programs; it never changes
 * @param gist the problem without numbers, which stays the same while the problem lasts
 * @param message the problem with its numbers
 * @param cliHint what to do, with the command line
 * @param httpHint what to do, with the API
 */
public record Finding(String code, String gist, String message, String cliHint, String httpHint) {
  public static Finding of(String code, String message, String cliHint) {
    return new Finding(code, message, message, cliHint, cliHint);
  }

  public static Finding of(String code, String message, String cliHint, String httpHint) {
    return new Finding(code, message, message, cliHint, httpHint);
  }

  /**
   * A problem with a number of jobs, which stands between the two halves of the sentence.
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
        httpHint);
  }
}
