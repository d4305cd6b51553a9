package dev.holdfast.server.lease;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.HeldLease;
import dev.holdfast.contract.lease.LeaseHeartbeat;
import dev.holdfast.contract.lease.LeasePublish;
import dev.holdfast.contract.lease.LeaseReport;
import dev.holdfast.contract.lease.LeaseSettle;
import dev.holdfast.contract.lease.QueueDepth;
import dev.holdfast.contract.lease.QueueWait;
import dev.holdfast.contract.task.TaskSteps;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.JobQueries;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.server.auth.Tenants;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * For workers that run many tasks under one key: all their leases at once. A lease of another
 * worker, or of another tenant's task, is answered as one that never was: lost.
 */
public final class LeasesApi {
  private static final int ONE_STEP = Limits.PATCH_BYTES + Route.ONE_JOB;

  private final JobQueue queue;
  private final JobQueries queries;
  private final WakeUps wakeUps;
  private final Tenants tenants;

  public LeasesApi(JobQueue queue, JobQueries queries, WakeUps wakeUps) {
    this.queue = queue;
    this.queries = queries;
    this.wakeUps = wakeUps;
    this.tenants = new Tenants(queries);
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/leases/heartbeat", Guard.WORK, this::heartbeat),
        Route.get("/v1/leases/signals", Guard.WORK, this::signals).queries("worker"),
        Route.post("/v1/leases/report", Guard.WORK, this::report),
        Route.post("/v1/leases/step", Guard.WORK, this::step)
            .maxBody(ONE_STEP)
            .queries("patchBytes"),
        Route.get("/v1/leases/steps", Guard.WORK, this::steps).queries("task", "attempt", "worker"),
        Route.get("/v1/leases/patch", Guard.WORK, this::patch)
            .queries("task", "attempt", "worker", "step"),
        Route.post("/v1/leases/publish", Guard.WORK, this::publish),
        Route.get("/v1/leases/artifacts", Guard.WORK, this::artifacts)
            .queries("task", "attempt", "worker"),
        Route.post("/v1/leases/settle", Guard.WORK, this::settle),
        Route.post("/v1/leases/succeeded", Guard.WORK, this::succeeded).maxBody(Route.SMALL),
        Route.get("/v1/leases", Guard.WORK, this::heldBy).queries("worker"),
        Route.post("/v1/queues/depth", Guard.WORK, this::depth).maxBody(Route.SMALL),
        Route.post("/v1/queues/wait", Guard.WORK, this::await).maxBody(Route.SMALL));
  }

  private Answer heartbeat(Call call) {
    LeaseHeartbeat beat = call.body(LeaseHeartbeat.class);
    Map<Lease, String> workers = new LinkedHashMap<>();
    beat.leases().forEach(held -> workers.putIfAbsent(held.lease(), held.workerId()));
    List<Lease> leases = List.copyOf(workers.keySet());
    Set<JobId> seen = seen(call, leases, Lease::job);
    workers.keySet().removeIf(lease -> !seen.contains(lease.job()));
    List<HeartbeatResult> pulses =
        new ArrayList<>(queue.heartbeat(workers, Duration.ofMillis(beat.leaseMs())));
    leases.stream()
        .filter(lease -> !seen.contains(lease.job()))
        .forEach(lease -> pulses.add(new HeartbeatResult(lease, Ack.LEASE_LOST, null)));
    return pulses(pulses);
  }

  private Answer signals(Call call) {
    List<HeartbeatResult> pulses = queue.signals(worker(call));
    Set<JobId> seen = seen(call, pulses, pulse -> pulse.lease().job());
    return pulses(pulses.stream().filter(pulse -> seen.contains(pulse.lease().job())).toList());
  }

  private static Answer pulses(List<HeartbeatResult> pulses) {
    return Answer.ok(
        new LeaseHeartbeat.Answer(pulses.stream().map(LeaseHeartbeat.Beat::of).toList()));
  }

  private Answer report(Call call) {
    List<Told<Report>> told =
        call.body(LeaseReport.class).reports().stream()
            .map(said -> told(Scrubbed.report(said.report()), said))
            .toList();
    return Answer.ok(new LeaseReport.Answer(acks(call, told, queue::report)));
  }

  private static Told<Report> told(Report report, LeaseReport.Said said) {
    return new Told<>(report.lease(), said.workerId(), report);
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
        new LeaseReport.Answer(acks(call, List.of(told(report, said)), queue::report)));
  }

  private Answer steps(Call call) {
    return Answer.ok(
        TaskSteps.of(held(call).map(lease -> queries.steps(lease.job())).orElse(List.of())));
  }

  private Answer patch(Call call) {
    String step = Limits.stepId(call.query("step").orElse(""));
    return held(call)
        .flatMap(lease -> queries.patch(lease.job(), step))
        .map(patch -> Answer.text(200, Answer.BYTES, patch.bytes()))
        .orElseThrow(() -> new Problem(404, "no_patch", "step '" + step + "' has left no patch"));
  }

  private Answer settle(Call call) {
    List<Told<Settlement>> told =
        call.body(LeaseSettle.class).settlements().stream()
            .map(
                ending -> {
                  Settlement settlement = Scrubbed.settlement(ending.settlement());
                  return new Told<>(settlement.lease(), ending.workerId(), settlement);
                })
            .toList();
    return Answer.ok(new LeaseSettle.Answer(acks(call, told, queue::settle)));
  }

  private Answer publish(Call call) {
    LeasePublish publish = call.body(LeasePublish.class);
    Publication publication = publish.publication();
    boolean theirs = holds(call, publication.lease(), publish.workerId());
    return Answer.ok(new LeasePublish.Answer(theirs ? queue.publish(publication) : Ack.LEASE_LOST));
  }

  private Answer artifacts(Call call) {
    return Answer.ok(
        new LeasePublish.Published(
            held(call).map(lease -> queries.artifacts(lease.job())).orElse(List.of()).stream()
                .map(LeasePublish.Entry::of)
                .toList()));
  }

  private Answer succeeded(Call call) {
    HeldLease held = call.body(HeldLease.class);
    return Answer.ok(
        new HeldLease.Succeeded(
            holds(call, held.lease(), held.workerId()) && queue.succeeded(held.lease())));
  }

  private Answer heldBy(Call call) {
    String worker = worker(call);
    List<Lease> leases = queue.heldBy(worker);
    Set<JobId> seen = seen(call, leases, Lease::job);
    return Answer.ok(
        new HeldLease.Answer(
            leases.stream()
                .filter(lease -> seen.contains(lease.job()))
                .map(lease -> HeldLease.of(lease, worker))
                .toList()));
  }

  // ---- whose it is

  /** What a worker says of an attempt. */
  private record Told<T>(Lease lease, String worker, T what) {}

  /**
   * Only who holds an attempt can say something of it, and who held it is told again how it ended.
   * To others the lease is lost. One answer each, in their order.
   *
   * <p>An attempt never changes hands, so it does not matter when that is looked up.
   */
  private <T> List<Ack> acks(Call call, List<Told<T>> all, Function<List<T>, List<Ack>> verb) {
    Set<JobId> seen = seen(call, all, told -> told.lease().job());
    Map<Lease, String> holders =
        queries.workerNames(all.stream().map(Told::lease).distinct().toList());
    Predicate<Told<T>> isTheirs =
        told ->
            seen.contains(told.lease().job()) && told.worker().equals(holders.get(told.lease()));
    List<T> theirs = all.stream().filter(isTheirs).map(Told::what).toList();
    Iterator<Ack> answers = (theirs.isEmpty() ? List.<Ack>of() : verb.apply(theirs)).iterator();
    return all.stream().map(told -> isTheirs.test(told) ? answers.next() : Ack.LEASE_LOST).toList();
  }

  private boolean holds(Call call, Lease lease, String worker) {
    return tenants.seenBy(call.caller(), List.of(lease.job())).contains(lease.job())
        && worker.equals(queries.workerNames(List.of(lease)).get(lease));
  }

  /** The lease that a question is about, if the worker that it names holds or held it. */
  private Optional<Lease> held(Call call) {
    JobId job = JobId.parse(call.query("task").orElse(""));
    Lease lease = new Lease(job, call.whole("attempt", 1, Integer.MAX_VALUE));
    return holds(call, lease, worker(call)) ? Optional.of(lease) : Optional.empty();
  }

  private Answer depth(Call call) {
    QueueDepth asked = call.body(QueueDepth.class);
    String tenant = call.caller().onlyTenant();
    return Answer.ok(
        new QueueDepth.Answer(
            tenant == null
                ? queries.depth(asked.queues(), asked.most())
                : queries.depth(asked.queues(), asked.most(), tenant)));
  }

  private Answer await(Call call) throws InterruptedException {
    QueueWait wait = call.body(QueueWait.class);
    Set<LongPollBroker.Line> lines =
        wait.queues().stream()
            .map(name -> new LongPollBroker.Line(name, call.caller().onlyTenant()))
            .collect(Collectors.toUnmodifiableSet());
    List<LongPollBroker.Line> rung =
        wakeUps.await(wait.workerId(), lines, Duration.ofMillis(wait.waitMs()));
    return Answer.ok(new QueueWait.Answer(rung.stream().map(LongPollBroker.Line::queue).toList()));
  }

  private static String worker(Call call) {
    return Limits.key("worker", call.query("worker").orElse(""));
  }

  private <T> Set<JobId> seen(Call call, List<T> all, Function<T, JobId> job) {
    return tenants.seenBy(call.caller(), all.stream().map(job).toList());
  }
}
