package dev.holdfast.simulation.compare;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.value.Json;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.ModelVerbs;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.QueueVerbs;
import dev.holdfast.simulation.queue.RecordedVerbs;
import dev.holdfast.simulation.trace.Call;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Calls by nobody sensible: workers that settle what they lost long ago, twice and in batches, and
 * whatever else the queue must bear.
 */
public final class RandomCalls {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final int BACKLOG = 240;
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final List<WhenDependencyFails> FAILURES = List.of(WhenDependencyFails.values());

  private final Random random;
  private final List<Call> calls = new ArrayList<>();
  private final List<Lease> leases = new ArrayList<>();
  private final List<JobId> jobs = new ArrayList<>();
  private final QueueVerbs queue;
  private long now = 1_000_000;
  private int enqueued;

  private RandomCalls(long seed) {
    this.random = Scheduler.randomOf(seed);
    this.queue =
        new RecordedVerbs(
            new ModelVerbs(new ModelQueue(new PlainCodec(), () -> now)),
            () -> now,
            () -> "-",
            calls::add);
  }

  public static List<Call> of(long seed, int many) {
    RandomCalls made = new RandomCalls(seed);
    if (made.random.nextInt(3) == 0) {
      made.queue.limit("r", 1 + made.random.nextInt(3));
    }
    if (made.random.nextInt(4) == 0) {
      made.backlog();
    }
    while (made.calls.size() < many) {
      made.pass();
      made.any();
    }
    return made.calls;
  }

  /** Claims of a hundred jobs move a cursor; what commits late, or comes back, lies before it. */
  private void backlog() {
    queue.begin(JobSpec.of(++enqueued, "kind", "q", "payload"));
    now += 1_000;
    for (int i = 0; i < BACKLOG; i++) {
      jobs.add(queue.enqueue(JobSpec.of(++enqueued, "kind", "q", "payload")).id());
      now += 1_000;
    }
    now += 1_000_000;
    for (int i = 0; i < 2; i++) {
      now += 50_000;
      List<Lease> claimed =
          queue.claim("q", BACKLOG / 2 + 1, worker(), LEASE, GRACE).jobs().stream()
              .map(LeasedJob::lease)
              .toList();
      queue.settle(
          claimed.stream()
              .<Settlement>map(
                  lease ->
                      random.nextInt(40) == 0
                          ? new Settlement.Release(lease, false)
                          : new Settlement.Succeed(lease, null))
              .toList());
    }
    queue.commit();
    for (int i = 0; i < 3; i++) {
      now += 50_000;
      queue
          .claim("q", BACKLOG, worker(), LEASE, GRACE)
          .jobs()
          .forEach(job -> leases.add(job.lease()));
    }
  }

  private void pass() {
    now += 1_000L * (random.nextInt(6) == 0 ? random.nextInt(25_000) : random.nextInt(200));
  }

  private String worker() {
    return "w" + random.nextInt(3);
  }

  private void any() {
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3 -> enqueue();
      case 4, 5, 6, 7 -> claim();
      case 8, 9 -> {
        List<Lease> some = some();
        if (!some.isEmpty()) {
          queue.heartbeat(some, LEASE);
        }
      }
      case 10, 11, 12, 13 -> settle();
      case 14 -> report();
      case 15 -> {
        queue.promote();
        queue.reapAndExpire(Duration.ZERO);
      }
      case 16 -> cancelOrRetry();
      case 17 -> publish();
      case 18 -> ask();
      default -> rare();
    }
  }

  private void enqueue() {
    boolean keyed = random.nextInt(6) == 0;
    boolean depends = random.nextInt(6) == 0 && !jobs.isEmpty();
    Enqueued answer =
        queue.enqueue(
            new JobSpec(
                ++enqueued,
                "kind",
                random.nextBoolean() ? "q" : "r",
                random.nextInt(3) == 0 ? random.nextInt(10) : 5,
                "payload",
                random.nextInt(4) == 0 ? random.nextInt(20_000) : 0,
                1 + random.nextInt(3),
                random.nextInt(3),
                random.nextInt(6) == 0 ? 1_000 + random.nextInt(20_000) : 0,
                random.nextInt(6) == 0 ? 5_000 + random.nextInt(60_000) : 0,
                random.nextInt(6) == 0 ? "key-" + random.nextInt(2) : "",
                keyed ? "lane-" + random.nextInt(2) : "",
                keyed ? 1 + random.nextInt(2) : 0,
                depends
                    ? List.of(JobSpec.number(jobs.get(random.nextInt(jobs.size()))))
                    : List.of(),
                FAILURES.get(random.nextInt(FAILURES.size()))));
    jobs.add(answer.id());
  }

  private void claim() {
    Claimed claimed =
        queue.claim(
            random.nextBoolean() ? "q" : "r", 1 + random.nextInt(4), worker(), LEASE, GRACE);
    claimed.jobs().forEach(job -> leases.add(job.lease()));
  }

  /** Held ones and lost ones, and such as never were. */
  private List<Lease> some() {
    List<Lease> some = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0 && !leases.isEmpty(); i--) {
      Lease lease = leases.get(Math.max(0, leases.size() - 1 - random.nextInt(8)));
      Lease other = random.nextInt(10) == 0 ? new Lease(lease.job(), 1 + random.nextInt(3)) : lease;
      if (some.stream().noneMatch(each -> each.job().equals(other.job()))) {
        some.add(other);
      }
    }
    return some;
  }

  private void settle() {
    List<Settlement> settlements = some().stream().map(this::settlement).toList();
    if (!settlements.isEmpty()) {
      queue.settle(settlements);
      if (random.nextInt(4) == 0) {
        queue.settle(settlements);
      }
    }
  }

  private Settlement settlement(Lease lease) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2, 3 ->
          new Settlement.Succeed(
              lease, random.nextBoolean() ? null : new Json("{\"n\":" + random.nextInt(3) + "}"));
      case 4, 5 ->
          new Settlement.Fail(
              lease,
              new Failure(
                  FailureCategory.USER_CODE,
                  "CODE_" + random.nextInt(2),
                  "message",
                  null,
                  random.nextInt(4) > 0),
              Duration.ofMillis(random.nextInt(10_000)));
      case 6 ->
          random.nextBoolean()
              ? new Settlement.Cancel(lease, null)
              : new Settlement.Snooze(lease, Duration.ofMillis(random.nextInt(5_000)));
      default -> new Settlement.Release(lease, random.nextBoolean());
    };
  }

  private void report() {
    List<Report> reports = new ArrayList<>();
    for (Lease lease : some()) {
      reports.add(
          switch (random.nextInt(4)) {
            case 0 -> new Report.Progress(lease, random.nextInt(101), null);
            case 1 -> new Report.Event(lease, "told", new Json("{}"));
            case 2 -> new Report.Log(lease, 1 + random.nextInt(2), "line");
            default -> step(lease);
          });
    }
    if (!reports.isEmpty()) {
      queue.report(reports);
    }
  }

  private Report step(Lease lease) {
    int index = 1 + random.nextInt(2);
    StepState state =
        List.of(StepState.RUNNING, StepState.DONE, StepState.FAILED).get(random.nextInt(3));
    return new Report.Step(
        lease,
        "step-" + index,
        index,
        state,
        1 + random.nextInt(2),
        random.nextInt(5) == 0,
        state == StepState.DONE ? new Json("1") : null,
        null,
        random.nextInt(6) == 0 ? index : null,
        null,
        List.of(new Report.Entry("task.step.attempt.started", new Json("{}"))));
  }

  private void publish() {
    for (Lease lease : some()) {
      queue.publish(
          new Publication(
              lease,
              "store",
              List.of(new Artifact("out", 1, "%064x".formatted(random.nextInt(2)))),
              null));
      if (random.nextInt(3) == 0) {
        queue.artifacts(lease);
      }
    }
  }

  private void cancelOrRetry() {
    if (!jobs.isEmpty()) {
      JobId job = jobs.get(random.nextInt(jobs.size()));
      if (random.nextInt(3) > 0) {
        queue.cancel(job, "asked");
      } else {
        queue.retry(job);
      }
    }
  }

  private void ask() {
    queue.commands(worker());
    queue.heldBy(worker());
    some().forEach(queue::steps);
    some().forEach(queue::succeeded);
  }

  private void rare() {
    switch (random.nextInt(3)) {
      case 0 -> queue.restarted();
      case 1 -> queue.recover(worker());
      default -> now += 40_000_000;
    }
  }
}
