package dev.holdfast.simulation.trace;

/**
 * A call of the queue in the order in which the queue carried them out.
 *
 * @param micros the time of the database's clock, since the run began
 * @param by who called, for people
 * @param verb as JSON
 */
public record Call(long micros, String by, String verb, String answer) {
  @Override
  public String toString() {
    return "%10.3f s  %-8s %s -> %s"
        .formatted(micros / 1e6, by, verb, answer.isEmpty() ? "nothing" : answer);
  }
}
