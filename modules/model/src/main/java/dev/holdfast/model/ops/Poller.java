package dev.holdfast.model.ops;

import java.time.Instant;
import java.util.List;

/**
 * A worker that asks a server for jobs, whether it holds some or not.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param queues those that it asks for
 * @param askedAt when it did so last
 */
public record Poller(String worker, List<String> queues, Instant askedAt) {
  public Poller {
    queues = List.copyOf(queues);
  }
}
