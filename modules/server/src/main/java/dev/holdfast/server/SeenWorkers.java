package dev.holdfast.server;

import dev.holdfast.model.Holder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The workers that hold jobs, or did a moment ago.
 *
 * <p>All that is known of them is what they hold. What a supervisor knows besides (the process id,
 * restarts) belongs into {@link Live.Worker}, by the component.
 */
final class SeenWorkers {
  private static final Duration REMEMBERED = Duration.ofMinutes(1);
  private static final String PREFIX = "worker:";

  private record Seen(Live.Worker worker, Instant heldAt) {}

  private final Map<String, Seen> seen = new LinkedHashMap<>();

  /** All of them as they are now; those that are gone are told of once more. */
  List<Live.Worker> looked(List<Holder> holders, Instant now) {
    for (Holder holder : holders) {
      seen.put(holder.worker(), new Seen(live(holder, now), now));
    }
    List<Live.Worker> all = new ArrayList<>();
    for (Seen last : List.copyOf(seen.values())) {
      Live.Worker worker = last.worker();
      if (last.heldAt().equals(now)) {
        all.add(worker);
      } else if (last.heldAt().plus(REMEMBERED).isAfter(now)) {
        all.add(worker.idle());
      } else {
        all.add(worker.gone());
        seen.remove(worker.worker());
      }
    }
    return all;
  }

  private static Live.Worker live(Holder holder, Instant now) {
    boolean expired = holder.leaseExpiresAt().isBefore(now);
    return new Live.Worker(
        component(holder.worker()),
        holder.worker(),
        expired ? Live.Worker.CRASHED : Live.Worker.HEALTHY,
        holder.held(),
        holder.jobs(),
        holder.heartbeatAt());
  }

  /** A worker's name is its place, and after an @ which process of which machine is in it. */
  static String component(String worker) {
    int at = worker.indexOf('@');
    String place = at < 0 ? worker : worker.substring(0, at);
    return place.startsWith(PREFIX) ? place : PREFIX + place;
  }
}
