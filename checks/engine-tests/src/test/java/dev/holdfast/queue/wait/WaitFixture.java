package dev.holdfast.queue.wait;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.attempt.WaitEnd.Outcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.QueueFixture;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs that wait. */
abstract class WaitFixture extends QueueFixture {
  protected WaitAnswer suspend(Lease lease, Wait asked) {
    return queue.suspend(new Suspension(lease, 1, asked));
  }

  /** A running job that was suspended by this. */
  protected Lease suspended(Wait asked) {
    Lease lease = running();
    assertThat(suspend(lease, asked)).isEqualTo(WaitAnswer.SUSPENDED);
    return lease;
  }

  protected SignalToJob.Answer signal(JobId job, String name, String payload) {
    return signal(job, name, payload, null);
  }

  protected SignalToJob.Answer signal(
      JobId job, String name, String payload, @Nullable String key) {
    return queue.signal(job, new SignalToJob(name, new Json(payload), key, "tester"), Tenant.ANY);
  }

  protected static Wait.ForSignal forSignal(String id) {
    return new Wait.ForSignal(id, id, null);
  }

  /** As if the wait had taken that long. */
  protected void passTime(JobId job) {
    set(job, "wake_at = wake_at - interval '400 days'");
  }

  /** How the wait of an id has ended; null while it has not. */
  protected @Nullable WaitEnd end(JobId job, String id) {
    return queries.steps(job).stream()
        .filter(step -> step.id().equals(id) && step.isDone())
        .map(StepStatus::waitEnd)
        .findFirst()
        .orElse(null);
  }

  protected static WaitEnd over(WaitSort sort, Outcome outcome) {
    return new WaitEnd(sort, outcome, null, null, null, null, null);
  }

  protected static WaitEnd over(WaitSort sort, Outcome outcome, JobId job) {
    return new WaitEnd(sort, outcome, null, null, null, job, null);
  }

  /** Starts jobs under an id; the answer are their ids. */
  protected List<JobId> start(Lease lease, String id, Job... jobs) {
    List<Job> children = new ArrayList<>();
    for (Job job : jobs) {
      children.add(job.id(JobId.ofChild(lease.job(), id, 1, children.size())));
    }
    queue.startChildren(new Children(lease, id, 1, children, children.size()));
    return children.stream().map(Job::id).toList();
  }

  protected static Wait.ForChildren forAll(String... started) {
    return new Wait.ForChildren("join", Arrays.asList(started), false, true, null);
  }
}
