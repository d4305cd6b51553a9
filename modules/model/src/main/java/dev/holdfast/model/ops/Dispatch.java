package dev.holdfast.model.ops;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.net.URI;

/**
 * Where the tasks of a queue are pushed to.
 *
 * @param secret sent with each push, so that the receiver can authenticate the server
 * @param maxInFlight how many pushed tasks may be running at once
 */
public record Dispatch(String queue, URI url, String secret, int maxInFlight) {
  /** Tasks are leased under this and the name of their queue while they are pushed, and after. */
  public static final String WORKER = "push:";

  public static final int DEFAULT_MAX_IN_FLIGHT = 10;

  /** Whether a pushed attempt is known to have reached its worker. */
  public enum Delivery {
    /** It is held, and its worker has sent neither a start nor a heartbeat. */
    UNCONFIRMED,
    /** It is held, and its worker has sent a start or a heartbeat. */
    CONFIRMED,
    /** It was settled, cancelled or reaped. */
    ENDED
  }

  public Dispatch {
    Limits.queue(queue);
    if (secret.length() < 16 || secret.length() > 1_000 || !secret.matches("[!-~]+")) {
      throw new RefusedException(
          Refusal.BAD_KEY,
          "the dispatch secret must have 16 to 1000 characters of printable ASCII, no spaces");
    }
    if (maxInFlight < 1 || maxInFlight > 10_000) {
      throw new RefusedException(
          Refusal.BAD_LIMIT, "maxInFlight " + maxInFlight + " must be between 1 and 10000");
    }
  }

  @Override
  public String toString() {
    return "queue " + queue + " to " + url;
  }
}
