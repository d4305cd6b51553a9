package dev.holdfast.server.live;

import dev.holdfast.model.ops.Holder;
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

/** The processes of supervisors, and the workers that hold jobs, or did a moment ago. */
final class SeenWorkers {
  private static final Duration REMEMBERED = Duration.ofMinutes(1);

  /** A heartbeat alone is told of this often, and not each time. */
  private static final Duration NEWS = Duration.ofSeconds(30);

  private record Seen(Live.Worker worker, Instant at) {}

  private final Map<String, Seen> seen = new LinkedHashMap<>();

  /** Names under which processes of supervisors hold, or held, what they hold. */
  private final Set<String> supervised = new HashSet<>();

  /** All of them as they are now; those that are gone are told of once more. */
  List<Live.Worker> looked(WorkerFleet crew) {
    Instant now = crew.now();
    Map<WorkerHealth, Holder> held = crew.held();
    for (WorkerHealth process : crew.processes()) {
      see(Live.Worker.of(process, held.get(process)), now);
    }
    supervised.retainAll(crew.holders().stream().map(Holder::worker).toList());
    held.values().forEach(holder -> supervised.add(holder.worker()));
    // What a dead process still holds goes back in a moment: that makes no worker of its own.
    crew.holders().stream()
        .filter(holder -> !supervised.contains(holder.worker()))
        .forEach(holder -> see(Live.Worker.of(holder, now), now));
    return told(now);
  }

  private void see(Live.Worker worker, Instant now) {
    Seen before = seen.get(worker.key());
    Live.Worker told = before == null ? worker : worker.unless(before.worker(), NEWS);
    seen.put(worker.key(), new Seen(told, now));
  }

  private List<Live.Worker> told(Instant now) {
    List<Live.Worker> all = new ArrayList<>();
    for (Seen last : List.copyOf(seen.values())) {
      Live.Worker worker = last.worker();
      if (last.at().equals(now)) {
        all.add(worker);
      } else if (worker.supervisor() == null && last.at().plus(REMEMBERED).isAfter(now)) {
        all.add(worker.idle());
      } else {
        all.add(worker.gone());
        seen.remove(worker.key());
      }
    }
    return all;
  }
}
