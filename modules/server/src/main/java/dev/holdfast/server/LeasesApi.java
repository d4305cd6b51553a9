package dev.holdfast.server;

import dev.holdfast.contract.HeldLease;
import dev.holdfast.contract.LeaseHeartbeat;
import dev.holdfast.contract.LeasePublish;
import dev.holdfast.contract.LeaseReport;
import dev.holdfast.contract.LeaseSettle;
import dev.holdfast.contract.QueueDepth;
import dev.holdfast.contract.QueueWait;
import dev.holdfast.contract.TaskSteps;
import dev.holdfast.contract.Wire;
import dev.holdfast.model.Ack;
import dev.holdfast.model.JobId;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Limits;
import dev.holdfast.model.Patch;
import dev.holdfast.model.Publication;
import dev.holdfast.model.Pulse;
import dev.holdfast.model.Report;
import dev.holdfast.model.Settlement;
import dev.holdfast.queue.Queue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * For workers that run many tasks under one key: all their leases at once. A lease of another
 * tenant's task is answered as one that never was: lost.
 */
final class LeasesApi {
  private static final int ONE_STEP = Limits.PATCH_BYTES + Route.ONE_JOB;

  private final Queue queue;
  private final WakeUps wakeUps;
  private final Tenants tenants;

  LeasesApi(Queue queue, WakeUps wakeUps) {
    this.queue = queue;
    this.wakeUps = wakeUps;
    this.tenants = new Tenants(queue);
  }

  List<Route> routes() {
    return List.of(
        Route.post("/v1/leases/heartbeat", Guard.WORK, this::heartbeat),
        Route.get("/v1/leases/signals", Guard.WORK, this::signals).queries("worker"),
        Route.post("/v1/leases/report", Guard.WORK, this::report),
        Route.post("/v1/leases/step", Guard.WORK, this::step)
            .maxBody(ONE_STEP)
            .queries("patchBytes"),
        Route.get("/v1/leases/steps", Guard.WORK, this::steps).queries("task"),
        Route.get("/v1/leases/patch", Guard.WORK, this::patch).queries("task", "step"),
        Route.post("/v1/leases/publish", Guard.WORK, this::publish),
        Route.get("/v1/leases/artifacts", Guard.WORK, this::artifacts).queries("task"),
        Route.post("/v1/leases/settle", Guard.WORK, this::settle),
        Route.post("/v1/leases/succeeded", Guard.WORK, this::succeeded).maxBody(Route.SMALL),
        Route.get("/v1/leases", Guard.WORK, this::held).queries("worker"),
        Route.post("/v1/queues/depth", Guard.WORK, this::depth).maxBody(Route.SMALL),
        Route.post("/v1/queues/wait", Guard.WORK, this::await).maxBody(Route.SMALL));
  }

  private Answer heartbeat(Call call) {
    LeaseHeartbeat beat = call.body(LeaseHeartbeat.class);
    List<Lease> leases = beat.leases().stream().map(HeldLease::lease).distinct().toList();
    Set<JobId> seen = seen(call, leases, Lease::job);
    List<Pulse> pulses =
        new ArrayList<>(
            queue.heartbeat(
                leases.stream().filter(lease -> seen.contains(lease.job())).toList(),
                Duration.ofMillis(beat.leaseMs())));
    leases.stream()
        .filter(lease -> !seen.contains(lease.job()))
        .forEach(lease -> pulses.add(new Pulse(lease, Ack.LEASE_LOST, null)));
    return pulses(pulses);
  }

  private Answer signals(Call call) {
    List<Pulse> pulses = queue.signals(worker(call));
    Set<JobId> seen = seen(call, pulses, pulse -> pulse.lease().job());
    return pulses(pulses.stream().filter(pulse -> seen.contains(pulse.lease().job())).toList());
  }

  private static Answer pulses(List<Pulse> pulses) {
    return Answer.ok(
        new LeaseHeartbeat.Answer(pulses.stream().map(LeaseHeartbeat.Beat::of).toList()));
  }

  private Answer report(Call call) {
    List<Report> reports =
        call.body(LeaseReport.class).reports().stream()
            .map(LeaseReport.Said::report)
            .map(Scrubbed::report)
            .toList();
    return Answer.ok(new LeaseReport.Answer(acks(call, reports, Report::lease, queue::report)));
  }

  /**
   * One report of a step, and right behind it the changes that the step made. They come in one
   * request and are written in one transaction, so that no step is ever done without its patch.
   */
  private Answer step(Call call) {
    byte[] body = call.raw();
    int json = body.length - call.whole("patchBytes", 0, Limits.PATCH_BYTES);
    if (json <= 0) {
      throw new Problem(400, "body_incomplete", "the body ends before the patch does");
    }
    LeaseReport.Said said = Wire.read(Arrays.copyOf(body, json), LeaseReport.Said.class);
    Report report = said.report(Patch.of(Arrays.copyOfRange(body, json, body.length)));
    return Answer.ok(
        new LeaseReport.Answer(acks(call, List.of(report), Report::lease, queue::report)));
  }

  private Answer steps(Call call) {
    JobId job = JobId.parse(call.query("task").orElse(""));
    return Answer.ok(TaskSteps.of(sees(call, job) ? queue.steps(job) : List.of()));
  }

  private Answer patch(Call call) {
    JobId job = JobId.parse(call.query("task").orElse(""));
    String step = Limits.stepId(call.query("step").orElse(""));
    return (sees(call, job) ? queue.patch(job, step) : Optional.<Patch>empty())
        .map(patch -> Answer.text(200, Answer.BYTES, patch.bytes()))
        .orElseThrow(() -> new Problem(404, "no_patch", "step '" + step + "' has left no patch"));
  }

  /** An ending, and who says so. */
  private record Told(Settlement settlement, String worker) {
    static Told of(LeaseSettle.Ending ending) {
      return new Told(Scrubbed.settlement(ending.settlement()), ending.workerId());
    }

    Lease lease() {
      return settlement.lease();
    }
  }

  /** Only who holds an attempt can end it, and who held it is told again how it ended. */
  private Answer settle(Call call) {
    List<Told> told = call.body(LeaseSettle.class).settlements().stream().map(Told::of).toList();
    Map<Lease, String> holders = queue.workers(told.stream().map(Told::lease).distinct().toList());
    return Answer.ok(
        new LeaseSettle.Answer(
            acks(
                call,
                told,
                Told::lease,
                each -> each.worker().equals(holders.get(each.lease())),
                theirs -> queue.settle(theirs.stream().map(Told::settlement).toList()))));
  }

  /** One answer each, in their order. */
  private <T> List<Ack> acks(
      Call call, List<T> all, Function<T, Lease> lease, Function<List<T>, List<Ack>> verb) {
    return acks(call, all, lease, each -> true, verb);
  }

  private <T> List<Ack> acks(
      Call call,
      List<T> all,
      Function<T, Lease> lease,
      Predicate<T> isTheirs,
      Function<List<T>, List<Ack>> verb) {
    Set<JobId> seen = seen(call, all, each -> lease.apply(each).job());
    Predicate<T> isAllowed = each -> seen.contains(lease.apply(each).job()) && isTheirs.test(each);
    List<T> theirs = all.stream().filter(isAllowed).toList();
    Iterator<Ack> answers = (theirs.isEmpty() ? List.<Ack>of() : verb.apply(theirs)).iterator();
    return all.stream()
        .map(each -> isAllowed.test(each) ? answers.next() : Ack.LEASE_LOST)
        .toList();
  }

  private Answer publish(Call call) {
    Publication publication = call.body(LeasePublish.class).publication();
    boolean seen = sees(call, publication.lease().job());
    return Answer.ok(new LeasePublish.Answer(seen ? queue.publish(publication) : Ack.LEASE_LOST));
  }

  private Answer artifacts(Call call) {
    JobId job = JobId.parse(call.query("task").orElse(""));
    return Answer.ok(
        new LeasePublish.Published(
            sees(call, job)
                ? queue.artifacts(job).stream().map(LeasePublish.Entry::of).toList()
                : List.of()));
  }

  private Answer succeeded(Call call) {
    Lease lease = call.body(HeldLease.class).lease();
    return Answer.ok(new HeldLease.Succeeded(sees(call, lease.job()) && queue.succeeded(lease)));
  }

  private Answer held(Call call) {
    List<Lease> leases = queue.heldBy(worker(call));
    Set<JobId> seen = seen(call, leases, Lease::job);
    return Answer.ok(
        new HeldLease.Answer(
            leases.stream()
                .filter(lease -> seen.contains(lease.job()))
                .map(HeldLease::of)
                .toList()));
  }

  private Answer depth(Call call) {
    QueueDepth asked = call.body(QueueDepth.class);
    String tenant = call.caller().onlyTenant();
    return Answer.ok(
        new QueueDepth.Answer(
            tenant == null
                ? queue.depth(asked.queues(), asked.most())
                : queue.depth(asked.queues(), asked.most(), tenant)));
  }

  private Answer await(Call call) throws InterruptedException {
    QueueWait wait = call.body(QueueWait.class);
    Set<WaitingRoom.Line> lines =
        wait.queues().stream()
            .map(name -> new WaitingRoom.Line(name, call.caller().onlyTenant()))
            .collect(Collectors.toUnmodifiableSet());
    List<WaitingRoom.Line> rung =
        wakeUps.await(wait.workerId(), lines, Duration.ofMillis(wait.waitMs()));
    return Answer.ok(new QueueWait.Answer(rung.stream().map(WaitingRoom.Line::queue).toList()));
  }

  private static String worker(Call call) {
    return Limits.key("worker", call.query("worker").orElse(""));
  }

  private boolean sees(Call call, JobId job) {
    return tenants.seenBy(call.caller(), List.of(job)).contains(job);
  }

  private <T> Set<JobId> seen(Call call, List<T> all, Function<T, JobId> job) {
    return tenants.seenBy(call.caller(), all.stream().map(job).toList());
  }
}
