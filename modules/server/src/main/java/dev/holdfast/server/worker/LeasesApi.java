package dev.holdfast.server.worker;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.HeldLease;
import dev.holdfast.contract.lease.LeaseChildren;
import dev.holdfast.contract.lease.LeaseHeartbeat;
import dev.holdfast.contract.lease.LeasePublish;
import dev.holdfast.contract.lease.LeaseReport;
import dev.holdfast.contract.lease.LeaseSettle;
import dev.holdfast.contract.lease.LeaseSuspend;
import dev.holdfast.contract.task.TaskSteps;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.worker.FencedOperations.Held;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The protocol of workers that run many tasks under one API key: each request may carry many
 * leases. Of a lease that the worker does not hold, or whose task is another tenant's, the answer
 * is that it is lost.
 */
public final class LeasesApi {
  private static final int ONE_STEP = Limits.PATCH_BYTES + Route.ONE_JOB;

  private final FencedOperations operations;

  public LeasesApi(FencedOperations operations) {
    this.operations = operations;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/leases/heartbeat", Guard.WORK, this::heartbeat),
        Route.get("/v1/leases/commands", Guard.WORK, this::commands).queries("workerId"),
        Route.post("/v1/leases/report", Guard.WORK, this::report),
        Route.post("/v1/leases/step", Guard.WORK, this::step)
            .maxBody(ONE_STEP)
            .queries("patchBytes"),
        Route.get("/v1/leases/steps", Guard.WORK, this::steps)
            .queries("taskId", "attempt", "workerId"),
        Route.get("/v1/leases/patch", Guard.WORK, this::patch)
            .queries("taskId", "attempt", "workerId", "stepId"),
        Route.post("/v1/leases/publish", Guard.WORK, this::publish),
        Route.get("/v1/leases/artifacts", Guard.WORK, this::artifacts)
            .queries("taskId", "attempt", "workerId"),
        Route.post("/v1/leases/suspend", Guard.WORK, this::suspend).maxBody(Route.SMALL),
        Route.post("/v1/leases/children", Guard.WORK, this::startChildren),
        Route.post("/v1/leases/children/ends", Guard.WORK, this::children),
        Route.post("/v1/leases/settle", Guard.WORK, this::settle),
        Route.post("/v1/leases/succeeded", Guard.WORK, this::succeeded).maxBody(Route.SMALL),
        Route.get("/v1/leases", Guard.WORK, this::heldBy).queries("workerId"));
  }

  private Answer heartbeat(Call call) {
    LeaseHeartbeat beat = call.body(LeaseHeartbeat.class);
    Map<Lease, String> workers = new LinkedHashMap<>();
    beat.leases().forEach(held -> workers.putIfAbsent(held.lease(), held.workerId()));
    return heartbeats(operations.extend(call.caller(), workers, Duration.ofMillis(beat.leaseMs())));
  }

  private Answer commands(Call call) {
    return heartbeats(operations.commands(worker(call)));
  }

  private static Answer heartbeats(List<HeartbeatResult> results) {
    return Answer.ok(
        new LeaseHeartbeat.Answer(results.stream().map(LeaseHeartbeat.Status::of).toList()));
  }

  private Answer report(Call call) {
    List<Held<Report>> reports =
        Fields.each(
            "reports",
            call.body(LeaseReport.class).reports(),
            said -> held(call, said.workerId(), said.report()));
    return Answer.ok(new LeaseReport.Answer(operations.report(reports)));
  }

  private static Held<Report> held(Call call, String worker, Report report) {
    return new Held<>(new LeaseHolder.Worker(call.caller(), worker), report.lease(), report);
  }

  /**
   * The body is the report of a step as JSON, and after it the patch of the step. Both come in one
   * request and are written in one transaction, so that no step is done without its patch.
   */
  private Answer step(Call call) {
    byte[] body = call.raw();
    int json = body.length - call.whole("patchBytes", 0, Limits.PATCH_BYTES);
    if (json <= 0) {
      throw new Problem(400, "body_incomplete", "the body ends before the patch does");
    }
    LeaseReport.ReportEntry said =
        Wire.read(Arrays.copyOf(body, json), LeaseReport.ReportEntry.class);
    Report report = said.report(Patch.of(Arrays.copyOfRange(body, json, body.length)));
    return Answer.ok(
        new LeaseReport.Answer(operations.report(List.of(held(call, said.workerId(), report)))));
  }

  private Answer steps(Call call) {
    Lease lease = lease(call);
    return Answer.ok(new TaskSteps(operations.steps(worker(call), lease)));
  }

  private Answer patch(Call call) {
    String step = Limits.stepId(call.query("stepId").orElse(""));
    Lease lease = lease(call);
    return operations
        .patch(worker(call), lease, step)
        .map(patch -> Answer.text(200, Answer.BYTES, patch.bytes()))
        .orElseThrow(() -> new Problem(404, "no_patch", "step '" + step + "' has left no patch"));
  }

  private Answer settle(Call call) {
    List<LeaseSettle.Ending> endings = call.body(LeaseSettle.class).settlements();
    List<Held<Completion>> completions =
        Fields.each("settlements", endings, ending -> completion(call, ending));
    return Answer.ok(
        new LeaseSettle.Answer(
            operations.end(completions).stream().map(FencedOperations.Ended::ack).toList()));
  }

  private static Held<Completion> completion(Call call, LeaseSettle.Ending ending) {
    Settlement settlement = ending.settlement();
    Completion completion =
        new Completion(
            settlement,
            ending.outcome().name(),
            ending.metrics() == null ? "" : CompletionDigest.of(settlement),
            ending.workerId(),
            null,
            ending.metrics(),
            ending.partialProgress(),
            null);
    return new Held<>(
        new LeaseHolder.Worker(call.caller(), ending.workerId()), settlement.lease(), completion);
  }

  private Answer suspend(Call call) {
    LeaseSuspend said = call.body(LeaseSuspend.class);
    Suspension suspension = said.suspension();
    return Answer.ok(
        LeaseSuspend.Answer.of(
            operations.suspend(
                new Held<>(holder(call, said.workerId()), suspension.lease(), suspension))));
  }

  private Answer startChildren(Call call) {
    LeaseChildren said = call.body(LeaseChildren.class);
    Children children = said.children();
    return Answer.ok(
        new LeaseChildren.Answer(
            operations.startChildren(
                new Held<>(holder(call, said.workerId()), children.lease(), children))));
  }

  private Answer children(Call call) {
    LeaseChildren.Asked asked = call.body(LeaseChildren.Asked.class);
    return Answer.ok(
        new LeaseChildren.Ends(
            operations.children(holder(call, asked.workerId()), asked.lease(), asked.jobs())));
  }

  private static LeaseHolder.Worker holder(Call call, String worker) {
    return new LeaseHolder.Worker(call.caller(), worker);
  }

  private Answer publish(Call call) {
    LeasePublish publish = call.body(LeasePublish.class);
    Publication publication = publish.publication();
    return Answer.ok(
        new LeasePublish.Answer(
            operations.publish(
                new Held<>(
                    new LeaseHolder.Worker(call.caller(), publish.workerId()),
                    publication.lease(),
                    publication))));
  }

  private Answer artifacts(Call call) {
    Lease lease = lease(call);
    return Answer.ok(new LeasePublish.Published(operations.artifacts(worker(call), lease)));
  }

  private Answer succeeded(Call call) {
    HeldLease held = call.body(HeldLease.class);
    LeaseHolder holder = new LeaseHolder.Worker(call.caller(), held.workerId());
    return Answer.ok(new HeldLease.Succeeded(operations.succeeded(holder, held.lease())));
  }

  private Answer heldBy(Call call) {
    LeaseHolder.Worker worker = worker(call);
    return Answer.ok(
        new HeldLease.Answer(
            operations.heldBy(worker).stream()
                .map(lease -> HeldLease.of(lease, worker.name()))
                .toList()));
  }

  private static LeaseHolder.Worker worker(Call call) {
    return new LeaseHolder.Worker(
        call.caller(), Limits.key("worker", call.query("workerId").orElse("")));
  }

  private static Lease lease(Call call) {
    JobId job = JobId.parse(call.query("taskId").orElse(""));
    return new Lease(job, call.whole("attempt", 1, Integer.MAX_VALUE));
  }
}
