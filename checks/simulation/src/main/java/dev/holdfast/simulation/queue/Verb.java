package dev.holdfast.simulation.queue;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.SignalToJob;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A call of the queue, which the model and PostgreSQL both carry out.
 *
 * @param <A> the answer
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME)
public sealed interface Verb<A> {
  /** The answer of verbs that have none. */
  enum Done {
    DONE
  }

  record Enqueue(JobSpec job) implements Verb<Enqueued> {}

  /** Enqueues in a transaction that stays open until {@link Commit}. */
  record Begin(JobSpec job) implements Verb<Done> {}

  record Commit() implements Verb<Done> {}

  record Claim(String queue, int most, String worker, Duration lease, Duration cancelGrace)
      implements Verb<Claimed> {}

  record Heartbeat(List<Lease> leases, Duration lease) implements Verb<List<HeartbeatResult>> {}

  record Commands(String worker) implements Verb<List<HeartbeatResult>> {}

  record WriteReports(List<Report> reports) implements Verb<List<Ack>> {}

  record Steps(Lease lease) implements Verb<List<StepStatus>> {}

  record Publish(Publication publication) implements Verb<Ack> {}

  record Artifacts(Lease lease) implements Verb<List<PublishedArtifact>> {}

  record Settle(List<Settlement> settlements) implements Verb<List<Ack>> {}

  record Succeeded(Lease lease) implements Verb<Boolean> {}

  record HeldBy(String worker) implements Verb<List<Lease>> {}

  /** Promotes what is due, and reaps nothing. */
  record Promote() implements Verb<Done> {}

  record ReapAndExpire(Duration reapGrace) implements Verb<Map<String, Integer>> {}

  /** Takes back the jobs of a process that is known to be dead; how many. */
  record Recover(String workerPrefix) implements Verb<Integer> {}

  record Cancel(JobId job, String reason) implements Verb<List<Cancellation>> {}

  record Retry(JobId job) implements Verb<Set<JobId>> {}

  record Limit(String queue, int maxRunning) implements Verb<Done> {}

  record Suspend(Suspension suspension) implements Verb<WaitAnswer> {}

  record Signal(JobId job, SignalToJob signal) implements Verb<SignalToJob.Answer> {}

  /** By somebody of a role. */
  record Decide(JobId job, String waitId, Decision decision, Role role)
      implements Verb<Decision.Answer> {}

  /** A job that another one starts. */
  record Child(JobId id, String kind, Json payload) {
    Job job() {
      return Job.of(kind, payload).id(id);
    }
  }

  /** Enqueues the jobs that an attempt starts under an id. */
  record Start(Lease lease, String id, int index, List<Child> children) implements Verb<Ack> {
    public Children asked() {
      return new Children(
          lease, id, index, children.stream().map(Child::job).toList(), children.size());
    }
  }

  record Ends(Lease lease, List<JobId> children) implements Verb<List<ChildEnd>> {}

  /** The database server was restarted. */
  record Restarted() implements Verb<Done> {}

  default String name() {
    String type = getClass().getSimpleName();
    return Character.toLowerCase(type.charAt(0)) + type.substring(1);
  }
}
