package dev.holdfast.simulation.scenario;

import dev.holdfast.model.value.Subscription;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/** NOTIFY: a hint that may be lost. */
final class Notifications {
  private static final int LOST_ONE_IN = 5;
  private static final long LONGEST = 3_000_000;

  private record Listener(
      SimulatedProcess process, Collection<String> queues, Consumer<String> wake) {}

  private final Scheduler scheduler;
  private final List<Listener> listeners = new ArrayList<>();

  Notifications(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  Subscription listen(Collection<String> queues, Consumer<String> wake) {
    Listener listener = new Listener(SimulatedProcess.current(), List.copyOf(queues), wake);
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  void send(String queue) {
    listeners.removeIf(each -> each.process().isDead());
    for (Listener each : listeners) {
      if (each.queues().contains(queue) && scheduler.random().nextInt(LOST_ONE_IN) > 0) {
        scheduler.after(
            scheduler.random().nextLong(LONGEST),
            () -> each.process().start("listener", () -> each.wake().accept(queue)));
      }
    }
  }
}
