package dev.holdfast.simulation.scenario;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** Breaks something every few seconds, and heals all of it at the end. */
final class Faults {
  private static final int MOST_WORKERS = 4;
  private static final int OUTAGE = 5;
  private static final Duration MANAGED = Duration.ofSeconds(10);

  private final Scenario scenario;
  private final Random random;
  private final Duration storm;

  /** In some runs nothing but the database is away, so that every worker is as well as another. */
  private final boolean onlyOutages;

  Faults(Scenario scenario, Duration storm) {
    this.scenario = scenario;
    this.random = scenario.random();
    this.storm = storm;
    this.onlyOutages = random.nextInt(4) == 0;
  }

  void run() {
    long until = System.nanoTime() + storm.toNanos();
    try {
      while (System.nanoTime() < until && !scenario.observer().isViolated()) {
        Thread.sleep(500 + random.nextInt(15_000));
        any();
        keepWorkers();
      }
      keepWorkers();
    } catch (InterruptedException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** As a service manager would: what has ended is started again. */
  private void keepWorkers() {
    if (scenario.usableWorkers().isEmpty()
        || (scenario.aliveWorkers().size() < MOST_WORKERS && random.nextInt(3) > 0)) {
      scenario.startWorker();
    }
  }

  /** Also when nothing breaks any more: a job may kill the last worker. */
  void keepOneWorker() {
    try {
      while (true) {
        Thread.sleep(MANAGED);
        if (scenario.usableWorkers().isEmpty()) {
          scenario.startWorker();
        }
      }
    } catch (InterruptedException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private Duration upTo(int seconds) {
    return Duration.ofMillis(200 + random.nextInt(seconds * 1_000));
  }

  private void any() {
    List<SimulatedWorker> usable = scenario.usableWorkers();
    SimulatedWorker victim = usable.isEmpty() ? null : usable.get(random.nextInt(usable.size()));
    int fault = onlyOutages ? OUTAGE : random.nextInt(12);
    if (victim == null || fault >= 9) {
      ask();
      return;
    }
    switch (fault) {
      case 0, 1 -> {
        told("kill", victim.name());
        scenario.rules().died(victim);
        victim.kill();
      }
      case 2, 3 -> {
        Duration time = upTo(60);
        told("freeze", victim.name() + " for " + time);
        victim.freeze(time);
      }
      case 4 -> {
        Duration time = upTo(70);
        told("cut", victim.name() + " for " + time);
        victim.cutAlone(time);
      }
      case OUTAGE -> outage(false);
      case 6 -> outage(true);
      case 7 -> {
        Duration time = upTo(20);
        told("slow network", time.toString());
        scenario.network().slow(time);
        scenario.aliveWorkers().forEach(each -> each.disturbed(time.plusSeconds(2)));
      }
      default -> stop(victim);
    }
  }

  private void told(String fault, String what) {
    scenario.observer().count(fault);
    scenario.observer().note("FAULT %s %s", fault, what);
  }

  /** Nobody reaches the database; with a restart it is away for all the same reason. */
  private void outage(boolean restart) {
    Duration time = upTo(70);
    told(restart ? "database restart" : "outage", time.toString());
    scenario.network().cutAll(time);
    scenario.aliveWorkers().forEach(each -> each.disturbed(time.plusSeconds(10)));
    if (restart) {
      scenario
          .scheduler()
          .after(
              time.toNanos() - 1_000_000,
              scenario.network().inDatabase(() -> scenario.queue().call(new Verb.Restarted())));
    }
  }

  private void stop(SimulatedWorker victim) {
    Duration timeout = upTo(20);
    told("stop", victim.name() + " within " + timeout);
    long begun = scenario.scheduler().now();
    victim.stop(
        timeout,
        () -> {
          boolean undisturbed = victim.calmSince() < begun && !scenario.network().isLossy();
          scenario.rules().stoppedCleanly(victim, undisturbed);
        });
  }

  private void ask() {
    boolean cancels = random.nextInt(3) > 0;
    JobId job =
        cancels
            ? scenario.view().any(random, JobState.RUNNING, JobState.PENDING, JobState.WAITING)
            : scenario.view().any(random, JobState.FAILED, JobState.CANCELLED);
    if (job == null) {
      return;
    }
    told(cancels ? "cancel" : "retry", String.valueOf(JobSpec.number(job)));
    try {
      Verb<?> verb = cancels ? new Verb.Cancel(job, "asked") : new Verb.Retry(job);
      Object unused = scenario.call("client", verb);
    } catch (SourceUnavailableException away) {
      // Who asked gives up.
    }
  }
}
