package dev.holdfast.simulation.scenario;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Enqueues jobs of all sorts, and again what was not answered. */
final class Clients {
  private static final List<String> KINDS =
      List.of(
          "work",
          "work",
          "work",
          "strict",
          "strict-deaf",
          "fail",
          "snooze",
          "deaf",
          "crash",
          "steps",
          "own",
          "file",
          "sleep",
          "signal",
          "parent",
          "ask",
          "first",
          "loop",
          "unknown");

  private static final List<Role> PEOPLE = List.of(Role.OPERATOR, Role.ADMIN, Role.ADMIN);

  private static final List<WhenDependencyFails> FAILURES = List.of(WhenDependencyFails.values());

  private final Scenario scenario;
  private final Random random;
  private final Duration storm;
  private final List<Integer> enqueued = new ArrayList<>();
  private int jobs;

  Clients(Scenario scenario, Duration storm) {
    this.scenario = scenario;
    this.random = scenario.random();
    this.storm = storm;
  }

  void run() {
    long until = System.nanoTime() + storm.toNanos();
    int burst = random.nextInt(12);
    try {
      while (System.nanoTime() < until && !scenario.observer().isViolated()) {
        JobSpec job = any();
        JobId id = enqueue(job);
        if (job.kind().equals("signal")) {
          Thread unused = SimulatedProcess.current().start("sender", () -> signal(id, job.queue()));
        } else if (job.kind().equals("ask")) {
          Thread unused = SimulatedProcess.current().start("people", () -> decide(id, job.queue()));
        }
        Thread.sleep(burst-- > 0 ? 1 : random.nextInt(12_000));
      }
    } catch (InterruptedException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Before the job runs, while it does, or while it waits; with keys, since answers are lost. */
  private void signal(JobId job, String queue) {
    try {
      for (int i = 1; i <= 2; i++) {
        Thread.sleep(random.nextInt(20_000));
        SignalToJob signal =
            new SignalToJob("go", new Json("\"signal " + i + "\""), "key-" + i, "client");
        while (!sent(job, signal)) {
          Thread.sleep(500);
        }
        scenario.notifications().send(queue);
      }
    } catch (InterruptedException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Somebody who may not, somebody who may, and a third one who says the contrary. */
  private void decide(JobId job, String queue) {
    boolean approved = random.nextBoolean();
    try {
      Thread.sleep(random.nextInt(30_000));
      for (int i = 0; i < PEOPLE.size(); i++) {
        Decision decision = new Decision(approved == i < 2, "person " + i, "");
        Verb.Decide decided = new Verb.Decide(job, Handlers.QUESTION, decision, PEOPLE.get(i));
        for (int tries = 0; tries < 8 && !isDecided(decided); tries++) {
          Thread.sleep(500 + random.nextInt(2_000));
        }
        scenario.notifications().send(queue);
      }
    } catch (InterruptedException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Whether it is no use to try again. */
  private boolean isDecided(Verb.Decide decided) {
    try {
      return scenario.decide("client", decided) != Decision.Answer.NOT_ASKED;
    } catch (SourceUnavailableException again) {
      return false;
    }
  }

  private boolean sent(JobId job, SignalToJob signal) {
    try {
      Object unused = scenario.call("client", new Verb.Signal(job, signal));
      return true;
    } catch (SourceUnavailableException again) {
      return false;
    }
  }

  private JobId enqueue(JobSpec job) throws InterruptedException {
    while (true) {
      try {
        Enqueued answer = scenario.call("client", new Verb.Enqueue(job));
        scenario.notifications().send(job.queue());
        enqueued.add(JobSpec.number(answer.id()));
        return answer.id();
      } catch (SourceUnavailableException again) {
        Thread.sleep(500);
      }
    }
  }

  private JobSpec any() {
    String kind = KINDS.get(random.nextInt(KINDS.size()));
    String queue = Scenario.QUEUES.get(random.nextInt(Scenario.QUEUES.size()));
    long millis = random.nextInt(4) == 0 ? random.nextInt(50_000) : random.nextInt(4_000);
    int number =
        kind.equals("steps") && random.nextBoolean() ? 1 + random.nextInt(6) : random.nextInt(3);
    String payload = millis + ":" + number + (kind.equals("loop") ? ":0" : "");
    boolean keyed = random.nextInt(8) == 0;
    boolean depends = random.nextInt(10) == 0 && !enqueued.isEmpty();
    return new JobSpec(
        ++jobs,
        kind,
        queue,
        random.nextInt(4) == 0 ? random.nextInt(10) : 5,
        payload,
        random.nextInt(6) == 0 ? random.nextInt(20_000) : 0,
        1 + random.nextInt(3),
        random.nextInt(3),
        random.nextInt(8) == 0 ? 5_000 + random.nextInt(20_000) : 0,
        random.nextInt(12) == 0 ? 20_000 + random.nextInt(60_000) : 0,
        random.nextInt(10) == 0 ? "key-" + random.nextInt(2) : "",
        keyed ? "lane-" + random.nextInt(2) : "",
        keyed ? 1 : 0,
        depends ? List.of(enqueued.get(random.nextInt(enqueued.size()))) : List.of(),
        FAILURES.get(random.nextInt(FAILURES.size())));
  }
}
