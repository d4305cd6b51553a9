package dev.holdfast.contract.lease;

import dev.holdfast.model.attempt.Lease;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The worker names under which leases were taken here, until their settlement was answered. Lost
 * leases are never reported, so the oldest entries are evicted.
 */
public final class Holders {
  private static final int MOST = 100_000;

  private final Map<Lease, String> workers =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Lease, String> eldest) {
          return size() > MOST;
        }
      };

  public synchronized void took(String worker, List<Lease> leases) {
    leases.forEach(lease -> workers.put(lease, worker));
  }

  /** Those of the leases that were taken here. */
  public synchronized Map<Lease, String> of(List<Lease> leases) {
    Map<Lease, String> known = new HashMap<>();
    for (Lease lease : leases) {
      String worker = workers.get(lease);
      if (worker != null) {
        known.put(lease, worker);
      }
    }
    return known;
  }

  public synchronized Optional<String> of(Lease lease) {
    return Optional.ofNullable(workers.get(lease));
  }

  /** Their settlements have been answered. */
  public synchronized void forget(Collection<Lease> leases) {
    leases.forEach(workers::remove);
  }
}
