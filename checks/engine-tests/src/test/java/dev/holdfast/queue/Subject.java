package dev.holdfast.queue;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;

/**
 * A job alone in its queue, in the state under test, and the lease it has or had. It depends on
 * another job, which has ended unless the state is WAITING.
 */
record Subject(JobStore store, TestDatabase db, Job before, Job job, Lease lease) {
  static Subject in(JobState state, JobStore store, TestDatabase db) {
    Job before = Job.of("test").queue("b" + JobId.next());
    Job job = Job.of("test").queue("q" + JobId.next()).dependsOn(before.id());
    store.jobs().enqueue(List.of(before, job));
    Subject subject = new Subject(store, db, before, job, new Lease(job.id(), 1));
    if (state != JobState.WAITING) {
      subject.endTheOneBefore(true);
      subject.promote();
      // Its own worker, so that leases lost by others do not affect this job.
      ClaimRequest alone =
          new ClaimRequest(job.queue(), 1, "worker:" + job.id(), QueueFixture.LEASE);
      // Again while its row is locked by who frees it.
      while (store.jobs().claim(alone).jobs().isEmpty()) {
        Thread.onSpinWait();
      }
    }
    switch (state) {
      case WAITING, RUNNING -> {}
      // Not for the first time, so that there is an old lease to come with.
      case PENDING -> store.jobs().settle(new Settlement.Release(subject.lease, false));
      case RETRYING ->
          store
              .jobs()
              .settle(new Settlement.Fail(subject.lease, QueueFixture.FLAKY, Duration.ofHours(1)));
      case SUCCEEDED -> store.jobs().settle(new Settlement.Succeed(subject.lease, null));
      case FAILED ->
          store
              .jobs()
              .settle(new Settlement.Fail(subject.lease, QueueFixture.HOPELESS, Duration.ZERO));
      case CANCELLED -> store.jobs().settle(new Settlement.Cancel(subject.lease, null));
    }
    return subject;
  }

  /**
   * Again while it waits: another thread may be freeing it just now, because the other has ended.
   */
  void promote() {
    do {
      store.maintenance().promote();
    } while (store.queries().find(id()).orElseThrow().state() == JobState.WAITING);
  }

  void endTheOneBefore(boolean well) {
    for (LeasedJob first :
        store.jobs().claim(new ClaimRequest(before.queue(), 1, "w", QueueFixture.LEASE)).jobs()) {
      store
          .jobs()
          .settle(
              well
                  ? new Settlement.Succeed(first.lease(), null)
                  : QueueFixture.fail(first.lease(), QueueFixture.HOPELESS));
    }
  }

  JobId id() {
    return job.id();
  }

  void set(String assignments) {
    db.sql("UPDATE holdfast.job SET " + assignments + " WHERE id = ?", id().value());
  }

  void hasStep(String step) {
    db.sql(
        "INSERT INTO holdfast.step (job_id, step_id, step_index, state, attempt, job_attempt,"
            + " started_at) VALUES (?, ?, 1, 'DONE', 1, 1, now()) ON CONFLICT DO NOTHING",
        id().value(),
        step);
  }

  /** As if its handler had suspended it. */
  void waitsFor(String sort, String rest) {
    db.sql(
        "UPDATE holdfast.job SET wait_sort = ?, wake_at = now() - interval '1 s', wait ="
            + " jsonb_build_object('id', 'w', 'index', 1, 'since', now()) || ?::jsonb"
            + " WHERE id = ? AND state = 'WAITING'",
        sort,
        "{" + rest + "}",
        id().value());
  }

  void setIfRunning(String assignments) {
    db.sql(
        "UPDATE holdfast.job SET " + assignments + " WHERE id = ? AND state = 'RUNNING'",
        id().value());
  }

  void loseLease() {
    setIfRunning(
        "heartbeat_at = now() - interval '1 hour', lease_expires_at = now() - interval '1 hour'");
  }

  void askToCancel() {
    setIfRunning(
        "cancel_requested_at = now(), cancel_deadline = now() + interval '1 hour',"
            + " cancel_reason = 'test'");
  }
}
