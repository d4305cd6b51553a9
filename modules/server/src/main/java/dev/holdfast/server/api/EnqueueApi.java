package dev.holdfast.server.api;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.request.JobRequest;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.job.Traceparent;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Enqueues one job, or many in one transaction. */
public final class EnqueueApi {
  private static final int MANY_JOBS = Limits.BULK_BYTES + (8 << 20);

  /** Many jobs. */
  record Jobs(List<JobRequest> jobs) {
    Jobs {
      Wire.present("jobs", jobs);
      jobs = List.copyOf(jobs);
      if (jobs.isEmpty()) {
        throw new WireException(
            WireException.Kind.WRONG_VALUE, "field 'jobs' must have a job in it");
      }
      if (jobs.size() > Limits.BULK_JOBS) {
        throw new RefusedException(
            Refusal.TOO_MANY_JOBS,
            "%,d jobs at once are over the limit of %,d: send them in several requests"
                .formatted(jobs.size(), Limits.BULK_JOBS));
      }
    }
  }

  private final JobQueue queue;
  private final Queries queries;

  public EnqueueApi(JobQueue queue, Queries queries) {
    this.queue = queue;
    this.queries = queries;
  }

  public List<Route> routes() {
    return List.of(Route.post("/v1/jobs", Guard.SUBMIT, this::submit).maxBody(MANY_JOBS));
  }

  private Answer submit(Call call) {
    byte[] body = call.bytes();
    boolean many = Wire.hasField(body, "jobs");
    List<JobRequest> requests =
        many ? Wire.read(body, Jobs.class).jobs() : List.of(Wire.read(body, JobRequest.class));
    List<Enqueued> enqueued = enqueue(call, many, requests);
    if (!many) {
      return Answer.json(201, enqueued.getFirst());
    }
    return Answer.json(201, Map.of("jobs", enqueued));
  }

  private List<Enqueued> enqueue(Call call, boolean many, List<JobRequest> requests) {
    Caller caller = call.caller();
    String ownTenant = caller.seesEveryTenant() ? Job.DEFAULT_OWNER : caller.tenant().name();
    List<Job> jobs =
        many
            ? Fields.each("jobs", requests, request -> traced(call, request.job(ownTenant)))
            : List.of(traced(call, requests.getFirst().job(ownTenant)));
    for (Job job : jobs) {
      if (!caller.sees(job.tenant())) {
        throw new Problem(
            403,
            "forbidden",
            "this key can enqueue only jobs of tenant '" + caller.tenant().name() + "'");
      }
    }
    keepApart(caller, jobs);
    Optional<String> key = call.header("Idempotency-Key");
    if (key.isPresent()) {
      // Of the parsed body: the same fields in another order are the same request.
      List<JobRequest> said = requests.stream().map(JobRequest::withoutTraceparent).toList();
      String digest = Secrets.digest((many ? "many" : "one") + Wire.text(said));
      String scope = caller.seesEveryTenant() ? "all" : "tenant:" + caller.tenant().name();
      return queue.enqueueOnce(scope, key.get(), digest, jobs);
    }
    return jobs.size() == 1 ? List.of(queue.enqueue(jobs.getFirst())) : queue.enqueue(jobs);
  }

  /** A malformed traceparent is ignored, as W3C Trace Context demands. */
  private static Job traced(Call call, Job job) {
    return job.traceparent() == null
        ? call.only("traceparent").filter(Traceparent::isOne).map(job::traceparent).orElse(job)
        : job;
  }

  /** An id may belong to another tenant's job, which the caller must not see. */
  private void keepApart(Caller caller, List<Job> jobs) {
    Set<JobId> named = new LinkedHashSet<>();
    jobs.forEach(job -> named.add(job.id()));
    jobs.forEach(job -> named.addAll(job.dependsOn()));
    Map<JobId, String> tenants = new HashMap<>();
    for (JobStateSnapshot snapshot : queries.states(new ArrayList<>(named))) {
      tenants.put(snapshot.job(), snapshot.tenant());
    }
    for (Job job : jobs) {
      if (!tenants.getOrDefault(job.id(), job.tenant()).equals(job.tenant())) {
        throw RefusedException.idTaken(job.id());
      }
      for (JobId other : job.dependsOn()) {
        if (!caller.sees(tenants.getOrDefault(other, job.tenant()))) {
          throw RefusedException.noSuchDependency(other.toString());
        }
      }
    }
  }
}
