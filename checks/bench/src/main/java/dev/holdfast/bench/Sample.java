package dev.holdfast.bench;

/**
 * One figure of one run.
 *
 * @param client seconds of processor time per 100,000 jobs in this process, and the server's below
 */
record Sample(
    String trial, String contender, String unit, double value, double client, double server) {
  static Sample rate(String trial, String contender, int jobs, Meter.Reading used) {
    double per = jobs / 100_000.0;
    return new Sample(
        trial,
        contender,
        "jobs/s",
        jobs / used.seconds(),
        used.client() / per,
        used.server() / per);
  }

  static Sample of(String trial, String contender, String unit, double value) {
    return new Sample(trial, contender, unit, value, 0, 0);
  }
}
