package dev.holdfast.model.ops;

import dev.holdfast.model.value.Plural;

/**
 * One thing that is wrong.
 *
 * @param code stays the same, for programs
 * @param gist a sentence that stays the same for as long as it is so
 * @param what the same with its numbers
 * @param doNext on the command line
 * @param doNextOverHttp the same for who has only the API
 */
public record Finding(String code, String gist, String what, String doNext, String doNextOverHttp) {
  public static Finding of(String code, String what, String doNext) {
    return new Finding(code, what, what, doNext, doNext);
  }

  public static Finding of(String code, String what, String doNext, String doNextOverHttp) {
    return new Finding(code, what, what, doNext, doNextOverHttp);
  }

  /**
   * About so many jobs, between the two halves of the sentence.
   *
   * @param one how it goes on after "1 job"
   * @param several after "2 jobs"
   */
  public static Finding counting(
      String code,
      String before,
      long jobs,
      String one,
      String several,
      String doNext,
      String doNextOverHttp) {
    return new Finding(
        code,
        before + "jobs" + several,
        before + Plural.of(jobs, "job") + (jobs == 1 ? one : several),
        doNext,
        doNextOverHttp);
  }
}
