package dev.holdfast.supervisor;

import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Plural;
import dev.holdfast.queue.health.ProcessRecovery;
import dev.holdfast.queue.recover.ReapResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs of processes that are gone. They go back at once, and are looked for again afterwards: a
 * claim that was on its way when its process was killed is carried out all the same, and nobody
 * would miss its jobs before their leases run out.
 */
final class Leftovers {
  private static final Logger log = LoggerFactory.getLogger(Leftovers.class);
  private static final List<Duration> AGAIN =
      List.of(Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(30));

  private record Gone(String component, long pid, String reason, long since, int looks) {
    boolean isDue(long now) {
      return now - since >= AGAIN.get(looks).toNanos();
    }

    Gone lookedAgain() {
      return new Gone(component, pid, reason, since, looks + 1);
    }
  }

  private final ProcessRecovery recovery;
  private final String supervisor;
  private final LongSupplier nanos;
  private final List<Gone> all = new ArrayList<>();

  Leftovers(ProcessRecovery recovery, String supervisor, LongSupplier nanos) {
    this.recovery = recovery;
    this.supervisor = supervisor;
    this.nanos = nanos;
  }

  void giveBack(String component, long pid, String reason) {
    Gone gone = new Gone(component, pid, reason, nanos.getAsLong(), 0);
    giveBack(gone);
    all.add(gone);
  }

  /**
   * Looks again where it is time to.
   *
   * @param runs whether the component's process has that number; a number is given out again
   */
  void turn(BiPredicate<String, Long> runs) {
    long now = nanos.getAsLong();
    for (Gone gone : all.stream().filter(one -> one.isDue(now)).toList()) {
      boolean taken = runs.test(gone.component(), gone.pid());
      if (!taken) {
        giveBack(gone);
      }
      all.remove(gone);
      if (!taken && gone.looks() + 1 < AGAIN.size()) {
        all.add(gone.lookedAgain());
      }
    }
  }

  private void giveBack(Gone gone) {
    ReapResult swept =
        recovery.recover(
            supervisor,
            WorkerHealth.namePrefix(gone.component(), Machine.name(), gone.pid()),
            gone.reason());
    if (!swept.requeued().isEmpty() || !swept.ended().isEmpty()) {
      log.warn(
          "{} (pid {}): {} given back, {} ended",
          gone.component(),
          gone.pid(),
          Plural.of(swept.requeued().size(), "job"),
          Plural.of(swept.ended().size(), "job"));
    }
  }
}
