package dev.holdfast.supervisor;

import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Plural;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.queue.recover.ReapResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requeues the jobs of processes that have ended, and looks for more of them for a while: a claim
 * that the database received before its process was killed may be committed afterwards, and its
 * jobs would wait for their leases to expire.
 */
final class JobRecovery {
  private static final Logger log = LoggerFactory.getLogger(JobRecovery.class);
  private static final List<Duration> LATER_LOOKS =
      List.of(Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(30));

  private record Ended(String component, long pid, String reason, long since, int looks) {
    boolean isDue(long now) {
      return now - since >= LATER_LOOKS.get(looks).toNanos();
    }

    Ended lookedAgain() {
      return new Ended(component, pid, reason, since, looks + 1);
    }
  }

  private final WorkerRegistry registry;
  private final String supervisor;
  private final LongSupplier nanos;
  private final List<Ended> all = new ArrayList<>();
  private final LongAdder requeued = new LongAdder();
  private final LongAdder ended = new LongAdder();

  JobRecovery(WorkerRegistry registry, String supervisor, LongSupplier nanos) {
    this.registry = registry;
    this.supervisor = supervisor;
    this.nanos = nanos;
  }

  Supervisor.Recovered recovered() {
    return new Supervisor.Recovered(requeued.sum(), ended.sum());
  }

  void requeue(String component, long pid, String reason) {
    Ended ended = new Ended(component, pid, reason, nanos.getAsLong(), 0);
    requeue(ended);
    all.add(ended);
  }

  /**
   * Looks again where that is due.
   *
   * @param runs whether the present process of the component has that pid: the system reuses pids
   */
  void turn(BiPredicate<String, Long> runs) {
    long now = nanos.getAsLong();
    for (Ended ended : all.stream().filter(one -> one.isDue(now)).toList()) {
      boolean reused = runs.test(ended.component(), ended.pid());
      if (!reused) {
        requeue(ended);
      }
      all.remove(ended);
      if (!reused && ended.looks() + 1 < LATER_LOOKS.size()) {
        all.add(ended.lookedAgain());
      }
    }
  }

  private void requeue(Ended ended) {
    ReapResult reaped =
        registry
            .recovery()
            .recover(
                supervisor,
                WorkerHealth.namePrefix(ended.component(), Machine.name(), ended.pid()),
                ended.reason());
    requeued.add(reaped.requeued().size());
    this.ended.add(reaped.ended().size());
    if (!reaped.requeued().isEmpty() || !reaped.ended().isEmpty()) {
      log.warn(
          "{} (pid {}): requeued {}, ended {}",
          ended.component(),
          ended.pid(),
          Plural.of(reaped.requeued().size(), "job"),
          Plural.of(reaped.ended().size(), "job"));
    }
  }
}
