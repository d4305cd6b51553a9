package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.request.JobRequest;
import dev.holdfast.contract.request.JobRequests;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import java.util.List;

/**
 * Jobs that an attempt starts, or a part of them. Whose they are follows from the task.
 *
 * @param workerId who holds the attempt
 * @param startedAs the id under which they are started
 * @param index of this id among the steps of the task
 * @param jobs each with the id that it has as a child of the task
 * @param count how many they are with those of the parts before; 0 when more parts follow
 */
public record LeaseChildren(
    JobId taskId,
    int attempt,
    String workerId,
    String startedAs,
    int index,
    List<JobRequest> jobs,
    int count) {
  public LeaseChildren {
    Wire.present("taskId", taskId);
    Fields.attempt(attempt);
    Fields.worker(workerId);
    Wire.present("startedAs", startedAs);
    jobs = List.copyOf(Wire.present("jobs", jobs));
  }

  public static LeaseChildren of(Children children, String worker) {
    return new LeaseChildren(
        children.lease().job(),
        children.lease().attempt(),
        worker,
        children.id(),
        children.index(),
        children.jobs().stream().map(JobRequests::child).toList(),
        children.count());
  }

  public Children children() {
    return new Children(
        new Lease(taskId, attempt),
        startedAs,
        index,
        Fields.each("jobs", jobs, request -> request.job(Job.DEFAULT_OWNER)),
        count);
  }

  /** What it is answered. */
  public record Answer(Ack ack) {}

  /** Asks how jobs have ended that the task has started. */
  public record Asked(JobId taskId, int attempt, String workerId, List<JobId> jobs) {
    /** So many at once. */
    public static final int MOST = 1_000;

    public Asked {
      Wire.present("taskId", taskId);
      Fields.attempt(attempt);
      Fields.worker(workerId);
      jobs = Fields.list("jobs", jobs, MOST);
    }

    public Lease lease() {
      return new Lease(taskId, attempt);
    }
  }

  /** How they have ended, in the order asked; without those that the task has not started. */
  public record Ends(List<ChildEnd> jobs) {}
}
