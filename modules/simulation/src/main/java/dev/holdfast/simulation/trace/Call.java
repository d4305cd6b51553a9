package dev.holdfast.simulation.trace;

import java.util.List;

/**
 * A call of the queue in the order in which the queue carried them out.
 *
 * @param micros the time of the database's clock, since the run began
 * @param by who called, for people
 */
public record Call(long micros, String by, String verb, List<String> arguments, String answer) {
  public Call {
    arguments = List.copyOf(arguments);
  }

  @Override
  public String toString() {
    return "%10.3f s  %-8s %s %s -> %s"
        .formatted(
            micros / 1e6,
            by,
            verb,
            String.join(" ", arguments).replace('\t', ','),
            answer.isEmpty() ? "nothing" : answer);
  }
}
