package dev.holdfast.server.live;

import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The processes of supervisors, and workers that ask for jobs, hold some or did so a minute ago.
 */
final class WorkerChangeTracker {
  private static final Duration REMEMBERED = Duration.ofMinutes(1);

  /** A new heartbeat alone is published this often. */
  private static final Duration HEARTBEAT_EVERY = Duration.ofSeconds(30);

  /**
   * @param asks it asked for jobs: it is known to be gone when it does not any more
   */
  private record Seen(LiveData.Worker worker, Instant at, boolean asks) {}

  private final Map<String, Seen> seen = new LinkedHashMap<>();

  /** Names under which processes of supervisors hold jobs, or held them. */
  private final Set<String> supervised = new HashSet<>();

  /** The current state of all; a worker that is gone is included once more. */
  List<LiveData.Worker> polled(WorkerFleet fleet) {
    Instant now = fleet.now();
    Map<WorkerHealth, Holder> held = fleet.held();
    for (WorkerHealth process : fleet.processes()) {
      record(LiveData.Worker.of(process, held.get(process)), now, false);
    }
    supervised.retainAll(fleet.holders().stream().map(Holder::worker).toList());
    held.values().forEach(holder -> supervised.add(holder.worker()));
    Set<String> asking = fleet.pollers().stream().map(Poller::worker).collect(Collectors.toSet());
    // The leases of a dead process are about to be released; they are not another worker.
    fleet.holders().stream()
        .filter(holder -> !supervised.contains(holder.worker()))
        .forEach(
            holder ->
                record(LiveData.Worker.of(holder, now), now, asking.contains(holder.worker())));
    fleet.idle().stream()
        .filter(poller -> !supervised.contains(poller.worker()))
        .forEach(poller -> record(LiveData.Worker.of(poller), now, true));
    return states(now);
  }

  private void record(LiveData.Worker worker, Instant now, boolean asks) {
    Seen before = seen.get(worker.key());
    LiveData.Worker states =
        before == null ? worker : worker.unless(before.worker(), HEARTBEAT_EVERY);
    seen.put(worker.key(), new Seen(states, now, asks));
  }

  private List<LiveData.Worker> states(Instant now) {
    List<LiveData.Worker> all = new ArrayList<>();
    for (Seen last : List.copyOf(seen.values())) {
      LiveData.Worker worker = last.worker();
      if (last.at().equals(now)) {
        all.add(worker);
      } else if (worker.supervisor() == null
          && !last.asks()
          && last.at().plus(REMEMBERED).isAfter(now)) {
        all.add(worker.idle());
      } else {
        all.add(worker.gone());
        seen.remove(worker.key());
      }
    }
    return all;
  }
}
