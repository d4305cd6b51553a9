package dev.holdfast.queue.command;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.Deletion.Outcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.QueueFixture;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DeleteTest extends QueueFixture {
  private Outcome delete(JobId job) {
    return queue.delete(job, Tenant.ANY).orElseThrow().outcome();
  }

  @Test
  void an_ended_job_is_deleted_with_all_its_rows() {
    Lease lease = running();
    queue.settle(new Settlement.Fail(lease, HOPELESS, null));
    assertThat(queue.delete(lease.job(), Tenant.ANY))
        .hasValue(new Deletion(lease.job(), JobState.FAILED, Outcome.DELETED));
    assertThat(queries.find(lease.job())).isEmpty();
    assertThat(queries.timeline(lease.job())).isEmpty();
    assertThat(db.count("SELECT count(*) FROM holdfast.attempt")).isZero();
    assertThat(queue.delete(lease.job(), Tenant.ANY)).isEqualTo(Optional.empty());
  }

  @Test
  void its_artifacts_are_listed_as_orphaned_for_their_store() {
    Lease lease = running();
    queue.publish(
        new Publication(lease, "store", List.of(new Artifact("a.txt", 1, "0".repeat(64))), null));
    queue.settle(succeed(lease));
    assertThat(delete(lease.job())).isEqualTo(Outcome.DELETED);
    assertThat(maintenance.orphaned("store")).containsExactly(lease.job());
  }

  @Test
  void a_pending_job_is_deleted_and_its_unique_key_is_free() {
    JobId pending = add(job().uniqueKey("k"));
    assertThat(delete(pending)).isEqualTo(Outcome.DELETED);
    assertThat(queue.enqueue(job().uniqueKey("k")).duplicate()).isFalse();
  }

  @Test
  void deleting_a_running_job_is_refused_also_in_a_batch() {
    assertThat(delete(running().job())).isEqualTo(Outcome.RUNNING);
    try (JobStore batching =
        new JobStore(db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.batchFrom(0))) {
      JobId job = add(job());
      assertThat(
              batching.jobs().claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE).inBatches()).jobs())
          .hasSize(1);
      assertThat(delete(job)).isEqualTo(Outcome.RUNNING);
      assertThat(queries.find(job)).isPresent();
    }
  }

  @ParameterizedTest
  @EnumSource
  void deleting_a_dependency_is_refused_until_its_end_was_passed_on(WhenDependencyFails policy) {
    JobId awaited = add(job());
    JobId waiting = add(job().dependsOn(List.of(awaited), policy));
    assertThat(delete(awaited)).isEqualTo(Outcome.AWAITED);
    // As if the process that cancelled it had died before it could pass that on.
    set(awaited, "state = 'CANCELLED', finished_at = now()");
    assertThat(delete(awaited)).as("it would let the other one run").isEqualTo(Outcome.AWAITED);
    maintenance.promote();
    JobState passedOn =
        switch (policy) {
          case CANCEL -> JobState.CANCELLED;
          case FAIL -> JobState.FAILED;
          case RUN -> JobState.PENDING;
        };
    assertThat(state(waiting)).isEqualTo(passedOn);
    assertThat(delete(awaited)).isEqualTo(Outcome.DELETED);
    assertThat(state(waiting)).isEqualTo(passedOn);
  }

  @Test
  void a_dependency_that_has_succeeded_can_be_deleted() {
    Lease lease = running();
    JobId next = add(job().dependsOn(lease.job()));
    queue.settle(succeed(lease));
    assertThat(delete(lease.job())).isEqualTo(Outcome.DELETED);
    maintenance.promote();
    assertThat(state(next)).isEqualTo(JobState.PENDING);
  }

  @Test
  void deleting_a_dependency_of_an_uncommitted_job_is_refused() throws Exception {
    JobId awaited = add(job());
    try (Connection enqueuer = db.dataSource().getConnection()) {
      enqueuer.setAutoCommit(false);
      queue.enqueue(enqueuer, List.of(job().dependsOn(awaited)));
      CompletableFuture<Outcome> deleted = CompletableFuture.supplyAsync(() -> delete(awaited));
      awaitLockWait();
      enqueuer.commit();
      enqueuer.setAutoCommit(true);
      assertThat(deleted.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Outcome.AWAITED);
    }
  }

  @Test
  void a_job_cannot_depend_on_a_deleted_job() {
    JobId job = add(job());
    delete(job);
    assertThatThrownBy(() -> queue.enqueue(Job.of("x").dependsOn(job)))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void a_job_of_another_tenant_is_not_found() {
    JobId job = add(job().owner("acme", "default"));
    assertThat(queue.delete(job, Tenant.of("other"))).isEqualTo(Optional.empty());
    assertThat(queue.delete(job, Tenant.of("acme"))).isPresent();
  }
}
