package dev.holdfast.simulation.compare;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import dev.holdfast.simulation.trace.Call;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Calls by nobody sensible: workers that settle what they lost long ago, twice and in batches, and
 * whatever else the queue must bear.
 */
public final class RandomCalls {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final int BACKLOG = 240;
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final List<WhenDependencyFails> FAILURES = List.of(WhenDependencyFails.values());
  private static final List<String> CODES =
      List.of("CODE_0", "CODE_1", Failure.NOT_DECIDED, Failure.CHILD_FAILED);
  private static final List<Role> ROLES = List.of(Role.WORKER, Role.OPERATOR, Role.ADMIN);

  private final Random random;
  private final List<Call> calls = new ArrayList<>();
  private final List<Lease> leases = new ArrayList<>();
  private final List<JobId> jobs = new ArrayList<>();

  /** Those that go on in the place of others; their ids are no numbers. */
  private final List<JobId> successors = new ArrayList<>();

  private final Set<JobId> children = new HashSet<>();
  private final Set<JobId> parents = new HashSet<>();

  /** Jobs that ask, or have asked, and the ids of their questions. */
  private final List<Asked> questions = new ArrayList<>();

  private final Interpreter queue;
  private long now = 1_000_000;
  private int enqueued;

  /** Jobs that wait for signals of these names, or have waited. */
  private final List<Asked> awaited = new ArrayList<>();

  private record Asked(JobId job, String id) {}

  private RandomCalls(long seed) {
    this.random = Scheduler.randomOf(seed);
    ModelQueue model = new ModelQueue(new PlainCodec(), () -> now);
    this.queue =
        verb -> {
          Object answer = Comparison.answer(model, verb);
          calls.add(VerbText.call(now, "-", verb, answer));
          return answer;
        };
  }

  public static List<Call> of(long seed, int many) {
    RandomCalls made = new RandomCalls(seed);
    if (made.random.nextInt(3) == 0) {
      made.queue.call(new Verb.Limit("r", 1 + made.random.nextInt(3)));
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
    queue.call(new Verb.Begin(JobSpec.of(++enqueued, "kind", "q", "payload")));
    now += 1_000;
    for (int i = 0; i < BACKLOG; i++) {
      JobSpec job = JobSpec.of(++enqueued, "kind", "q", "payload");
      jobs.add(queue.call(new Verb.Enqueue(job)).id());
      now += 1_000;
    }
    now += 1_000_000;
    for (int i = 0; i < 2; i++) {
      now += 50_000;
      List<Lease> claimed =
          claim("q", BACKLOG / 2 + 1).jobs().stream().map(LeasedJob::lease).toList();
      queue.call(
          new Verb.Settle(
              claimed.stream()
                  .<Settlement>map(
                      lease ->
                          random.nextInt(40) == 0
                              ? new Settlement.Release(lease, false)
                              : new Settlement.Succeed(lease, null))
                  .toList()));
    }
    queue.call(new Verb.Commit());
    for (int i = 0; i < 3; i++) {
      now += 50_000;
      claim("q", BACKLOG).jobs().forEach(job -> leases.add(job.lease()));
    }
  }

  private void pass() {
    now += 1_000L * (random.nextInt(6) == 0 ? random.nextInt(25_000) : random.nextInt(200));
  }

  private String worker() {
    return "w" + random.nextInt(3);
  }

  private void any() {
    switch (random.nextInt(30)) {
      case 0, 1, 2, 3 -> enqueue();
      case 4, 5, 6, 7 -> claim();
      case 8, 9 -> {
        List<Lease> some = some();
        if (!some.isEmpty()) {
          queue.call(new Verb.Heartbeat(some, LEASE));
        }
      }
      case 10, 11, 12, 13 -> settle();
      case 14 -> report();
      case 15 -> {
        queue.call(new Verb.Promote());
        queue.call(new Verb.ReapAndExpire(Duration.ZERO));
      }
      case 16 -> cancelOrRetry();
      case 17 -> publish();
      case 18 -> ask();
      case 19, 20, 21 -> suspend();
      case 22, 23 -> signal();
      case 24, 27, 28 -> start();
      case 25, 26 -> decide();
      default -> rare();
    }
  }

  private void enqueue() {
    boolean keyed = random.nextInt(6) == 0;
    boolean depends = random.nextInt(6) == 0 && !jobs.isEmpty();
    Enqueued answer =
        queue.call(
            new Verb.Enqueue(
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
                    FAILURES.get(random.nextInt(FAILURES.size())))));
    jobs.add(answer.id());
  }

  private void claim() {
    claim(random.nextBoolean() ? "q" : "r", 1 + random.nextInt(4))
        .jobs()
        .forEach(job -> leases.add(job.lease()));
  }

  private Claimed claim(String from, int most) {
    return queue.call(new Verb.Claim(from, most, worker(), LEASE, GRACE));
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
      queue.call(new Verb.Settle(settlements));
      if (random.nextInt(4) == 0) {
        queue.call(new Verb.Settle(settlements));
      }
    }
  }

  private Settlement settlement(Lease lease) {
    return switch (random.nextInt(10)) {
      case 0, 1, 2, 3 ->
          new Settlement.Succeed(
              lease, random.nextBoolean() ? null : new Json("{\"n\":" + random.nextInt(3) + "}"));
      case 4, 5 ->
          new Settlement.Fail(
              lease,
              new Failure(
                  FailureCategory.USER_CODE,
                  CODES.get(random.nextInt(CODES.size())),
                  "message",
                  null,
                  random.nextInt(4) > 0),
              Duration.ofMillis(random.nextInt(10_000)));
      case 6 ->
          random.nextBoolean()
              ? new Settlement.Cancel(lease, null)
              : new Settlement.Snooze(lease, Duration.ofMillis(random.nextInt(5_000)));
      case 7, 8 -> goOn(lease);
      default -> new Settlement.Release(lease, random.nextBoolean());
    };
  }

  /** A batch with a refusal is not written at all: what is refused is asked for alone. */
  private Settlement goOn(Lease lease) {
    Settlement.Continue next =
        new Settlement.Continue(lease, new Json("{\"turn\":" + random.nextInt(3) + "}"));
    if (children.contains(lease.job())) {
      queue.answer(new Verb.Settle(List.of(next)));
      return new Settlement.Release(lease, false);
    }
    successors.add(next.successor());
    return next;
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
      queue.call(new Verb.WriteReports(reports));
    }
  }

  private Report step(Lease lease) {
    int index = 1 + random.nextInt(2);
    StepState state =
        List.of(StepState.RUNNING, StepState.DONE, StepState.FAILED).get(random.nextInt(3));
    if (state == StepState.DONE && random.nextBoolean()) {
      return Report.Step.done(
          lease,
          "step-" + index,
          index,
          1 + random.nextInt(2),
          new Json("1"),
          Duration.ofMillis(random.nextInt(900)));
    }
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

  /** Held jobs wait, and so do some that nobody holds; now and then the answer is lost. */
  private void suspend() {
    for (Lease lease : some()) {
      int number = random.nextInt(3);
      Verb.Suspend asked =
          new Verb.Suspend(
              new Suspension(lease, 11 + number, waitOf(lease.job(), "wait-" + number)));
      WaitAnswer answer = queue.call(asked);
      if (asked.suspension().asked() instanceof Wait.ForApproval question
          && answer instanceof WaitAnswer.Suspended) {
        questions.add(new Asked(lease.job(), question.id()));
      }
      if (asked.suspension().asked() instanceof Wait.ForSignal signal
          && answer instanceof WaitAnswer.Suspended) {
        awaited.add(new Asked(lease.job(), signal.name()));
      }
      if (random.nextInt(4) == 0) {
        queue.call(asked);
      }
    }
  }

  /** Of a job that has started others mostly for these. */
  private Wait waitOf(JobId job, String id) {
    return parents.contains(job) && random.nextBoolean()
        ? new Wait.ForChildren(
            id,
            random.nextBoolean() ? List.of("kids-0") : List.of("kids-0", "kids-1"),
            random.nextBoolean(),
            random.nextInt(3) == 0,
            null)
        : anyWait(id);
  }

  private Wait anyWait(String id) {
    Duration within = Duration.ofMillis(random.nextInt(6) == 0 ? 0 : random.nextInt(20_000));
    return switch (random.nextInt(7)) {
      case 0 -> new Wait.Sleep(id, within);
      case 1 ->
          new Wait.SleepUntil(
              id,
              Instant.EPOCH.plus(
                  Math.max(0, now + 1_000L * (random.nextInt(20_000) - 2_000)), ChronoUnit.MICROS));
      case 2 ->
          new Wait.ForChildren(
              id,
              random.nextBoolean() ? List.of("kids-0") : List.of("kids-0", "kids-1"),
              random.nextInt(3) == 0,
              random.nextBoolean(),
              random.nextBoolean() ? null : within);
      case 3, 4 ->
          new Wait.ForApproval(
              id,
              new Question(
                  "Well?",
                  "",
                  any(Question.Decider.values()),
                  random.nextBoolean() ? null : within,
                  any(Question.Unanswered.values())));
      default ->
          new Wait.ForSignal(id, "name-" + random.nextInt(2), random.nextBoolean() ? null : within);
    };
  }

  private <E> E any(E[] values) {
    return values[random.nextInt(values.length)];
  }

  private static JobId recent(Random random, List<JobId> of) {
    return of.get(Math.max(0, of.size() - 1 - random.nextInt(12)));
  }

  private JobId recent() {
    return successors.isEmpty() || random.nextInt(3) > 0
        ? recent(random, jobs)
        : recent(random, successors);
  }

  /** Of those that ask and those that do not, by whoever it may be, and now and then twice. */
  private void decide() {
    for (int i = 0; i < 3 && !jobs.isEmpty(); i++) {
      boolean isAsked = !questions.isEmpty() && random.nextInt(4) > 0;
      Asked asked =
          isAsked
              ? questions.get(Math.max(0, questions.size() - 1 - random.nextInt(4)))
              : new Asked(recent(), "wait-" + random.nextInt(3));
      Verb.Decide decided =
          new Verb.Decide(
              asked.job(),
              random.nextInt(6) > 0 ? asked.id() : "wait-" + random.nextInt(3),
              new Decision(
                  random.nextBoolean(),
                  "by-" + random.nextInt(2),
                  random.nextBoolean() ? "" : "so"),
              ROLES.get(random.nextInt(ROLES.size())));
      queue.call(decided);
      if (random.nextInt(4) == 0) {
        queue.call(decided);
      }
    }
  }

  private void signal() {
    if (!jobs.isEmpty()) {
      boolean isAwaited = !awaited.isEmpty() && random.nextBoolean();
      Asked to =
          isAwaited
              ? awaited.get(Math.max(0, awaited.size() - 1 - random.nextInt(4)))
              : new Asked(recent(), "name-" + random.nextInt(2));
      Verb.Signal told =
          new Verb.Signal(
              to.job(),
              new SignalToJob(
                  to.id(),
                  new Json(String.valueOf(random.nextInt(1_000))),
                  random.nextInt(3) == 0 ? "key-" + random.nextInt(3) : null,
                  ""));
      queue.call(told);
      if (random.nextInt(4) == 0) {
        queue.call(told);
      }
    }
  }

  private void start() {
    for (Lease lease : some()) {
      int number = random.nextInt(2);
      List<Verb.Child> kids = new ArrayList<>();
      for (int i = random.nextInt(3); i >= 0; i--) {
        kids.add(new Verb.Child(JobSpec.id(++enqueued), "kind", new Json("\"payload\"")));
      }
      Verb.Start started = new Verb.Start(lease, "kids-" + number, 14 + number, kids);
      if (queue.call(started) == Ack.ACCEPTED) {
        queue.call(started);
        // Under an id that was used before, none is started.
        List<JobId> asked = started.children().stream().map(Verb.Child::id).toList();
        for (ChildEnd there : queue.call(new Verb.Ends(lease, asked))) {
          jobs.add(there.job());
          children.add(there.job());
        }
        parents.add(lease.job());
      }
    }
  }

  private void publish() {
    for (Lease lease : some()) {
      Artifact out = new Artifact("out", 1, "%064x".formatted(random.nextInt(2)));
      queue.call(new Verb.Publish(new Publication(lease, "store", List.of(out), null)));
      if (random.nextInt(3) == 0) {
        queue.call(new Verb.Artifacts(lease));
      }
    }
  }

  private void cancelOrRetry() {
    if (!jobs.isEmpty()) {
      JobId job = random.nextInt(4) == 0 ? recent() : jobs.get(random.nextInt(jobs.size()));
      queue.answer(random.nextInt(3) > 0 ? new Verb.Cancel(job, "asked") : new Verb.Retry(job));
    }
  }

  private void ask() {
    queue.call(new Verb.Commands(worker()));
    queue.call(new Verb.HeldBy(worker()));
    some().forEach(lease -> queue.call(new Verb.Steps(lease)));
    some().forEach(lease -> queue.call(new Verb.Succeeded(lease)));
  }

  private void rare() {
    switch (random.nextInt(3)) {
      case 0 -> queue.call(new Verb.Restarted());
      case 1 -> queue.call(new Verb.Recover(worker()));
      default -> now += 40_000_000;
    }
  }
}
