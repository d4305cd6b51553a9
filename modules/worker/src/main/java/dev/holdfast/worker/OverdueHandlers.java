package dev.holdfast.worker;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.worker.attempt.AttemptExecutor;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Which handlers still run although their attempts have ended, and since when. */
final class OverdueHandlers {
  private final Map<AttemptExecutor, Long> since = new ConcurrentHashMap<>();

  /** An attempt has ended, and its handler may not have. */
  void note(AttemptExecutor run) {
    if (run.isHandling()) {
      since.put(run, System.nanoTime());
      if (!run.isHandling()) {
        since.remove(run);
      }
    }
  }

  /** Its handler has left. */
  void forget(AttemptExecutor run) {
    since.remove(run);
  }

  int count() {
    return since.size();
  }

  Set<Lease> leases() {
    return since.keySet().stream().map(AttemptExecutor::lease).collect(Collectors.toSet());
  }

  /** The longest first. */
  List<OverdueHandler> all() {
    long now = System.nanoTime();
    return since.entrySet().stream()
        .sorted(Comparator.comparingLong(given -> given.getValue() - now))
        .map(
            given ->
                new OverdueHandler(
                    given.getKey().job().kind(),
                    given.getKey().lease(),
                    Duration.ofNanos(now - given.getValue())))
        .toList();
  }
}
