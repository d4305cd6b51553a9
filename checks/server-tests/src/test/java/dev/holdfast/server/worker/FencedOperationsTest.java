package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.Holdfast;
import dev.holdfast.contract.token.TaskScope;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.worker.FencedOperations.Held;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The same checks of holder and tenant for both worker protocols. */
@ExtendWith(DatabaseExtension.class)
class FencedOperationsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Caller ACME = new Caller("k", "n", Role.WORKER, Tenant.of("acme"), null);
  private static final Caller OTHER = new Caller("l", "m", Role.WORKER, Tenant.of("other"), null);

  private final TestDatabase db;
  private final Holdfast holdfast;
  private final FencedOperations operations;
  private final LeasedJob mine;
  private final LeasedJob second;

  FencedOperationsTest(TestDatabase db) {
    this.db = db;
    this.holdfast = Holdfast.on(db.dataSource());
    this.operations =
        new FencedOperations(
            holdfast.jobs(),
            holdfast.queries(),
            new HeartbeatBatcher(holdfast.jobs(), System::nanoTime),
            new RemoteAttempts(new Metrics(), holdfast.queries()::runTimes));
    this.mine = claimed("w1");
    this.second = claimed("w2");
  }

  @AfterEach
  void close() {
    holdfast.close();
  }

  private LeasedJob claimed(String worker) {
    holdfast.enqueue(Job.of("echo").queue("work").owner("acme", "default"));
    return holdfast.jobs().claim(new ClaimRequest("work", 1, worker, LEASE)).jobs().getFirst();
  }

  private static LeaseHolder.Token token(LeasedJob job) {
    return new LeaseHolder.Token(
        new TaskScope(job.tenant(), job.workspace(), job.run(), job.id(), job.lease().attempt()));
  }

  private static Held<Settlement> succeed(LeaseHolder holder, LeasedJob job) {
    return new Held<>(holder, job.lease(), new Settlement.Succeed(job.lease(), null));
  }

  private JobState state(LeasedJob job) {
    return holdfast.find(job.id()).orElseThrow().state();
  }

  @Test
  void a_token_is_valid_only_for_its_attempt() {
    LeaseHolder other = token(second);
    Lease lease = mine.lease();
    assertThat(operations.settle(List.of(succeed(other, mine)))).containsExactly(Ack.LEASE_LOST);
    LogLines lines = new LogLines(lease, 1L, List.of("hello"), (before, text) -> text);
    assertThat(operations.log(new Held<>(other, lease, lines))).isEqualTo(Ack.LEASE_LOST);
    Report progress = new Report.Progress(lease, 5, null);
    assertThat(operations.report(List.of(new Held<>(other, lease, progress))))
        .containsExactly(Ack.LEASE_LOST);
    Completion completion =
        new Completion(
            new Settlement.Succeed(lease, null), "SUCCEEDED", "d", "w1", null, null, null, null);
    assertThat(operations.end(List.of(new Held<>(other, lease, completion))))
        .containsExactly(new FencedOperations.Ended(Ack.LEASE_LOST, null));
    assertThat(state(mine)).isEqualTo(JobState.RUNNING);
    assertThat(operations.end(List.of(new Held<>(token(mine), lease, completion))))
        .containsExactly(new FencedOperations.Ended(Ack.ACCEPTED, JobState.SUCCEEDED));
  }

  @Test
  void an_end_that_is_written_is_accepted_though_it_cannot_be_counted() throws Exception {
    DataSource gone = db.dataSource(db.url(), 1);
    ((AutoCloseable) gone).close();
    try (Holdfast away = Holdfast.on(gone)) {
      FencedOperations uncounted =
          new FencedOperations(
              holdfast.jobs(),
              away.queries(),
              new HeartbeatBatcher(holdfast.jobs(), System::nanoTime),
              new RemoteAttempts(new Metrics(), away.queries()::runTimes));
      Failure flaky = Failure.of(FailureCategory.INFRASTRUCTURE, "FLAKY", "once");
      Settlement fail = new Settlement.Fail(mine.lease(), flaky, null);
      assertThat(uncounted.settle(List.of(new Held<>(token(mine), mine.lease(), fail))))
          .containsExactly(Ack.ACCEPTED);
      assertThat(state(mine)).isEqualTo(JobState.RETRYING);
    }
  }

  @Test
  void a_completion_is_stored_for_a_task_or_with_metrics_unless_the_job_is_given_back() {
    LeaseHolder worker = new LeaseHolder.Worker(ACME, "w1");
    Completion released =
        completion(new Settlement.Release(mine.lease(), true), "RELEASED", new Json("{}"));
    assertThat(operations.end(List.of(new Held<>(worker, mine.lease(), released))))
        .containsExactly(new FencedOperations.Ended(Ack.ACCEPTED, null));
    assertThat(state(mine)).isEqualTo(JobState.PENDING);
    Completion plain = completion(new Settlement.Succeed(second.lease(), null), "SUCCEEDED", null);
    LeaseHolder other = new LeaseHolder.Worker(ACME, "w2");
    assertThat(operations.end(List.of(new Held<>(other, second.lease(), plain))))
        .containsExactly(new FencedOperations.Ended(Ack.ACCEPTED, null));
    assertThat(holdfast.queries().reportedCompletions(mine.id())).isEmpty();
    assertThat(holdfast.queries().reportedCompletions(second.id())).isEmpty();
  }

  private static Completion completion(
      Settlement settlement, String outcome, @Nullable Json metrics) {
    return new Completion(settlement, outcome, "d", "w1", null, metrics, null, null);
  }

  @Test
  void a_batch_is_answered_in_order_also_for_leases_that_are_not_held() {
    LeaseHolder first = new LeaseHolder.Worker(ACME, "w1");
    assertThat(
            operations.settle(
                List.of(
                    succeed(first, second),
                    succeed(first, mine),
                    succeed(new LeaseHolder.Worker(OTHER, "w2"), second),
                    succeed(new LeaseHolder.Worker(ACME, "w2"), second))))
        .containsExactly(Ack.LEASE_LOST, Ack.ACCEPTED, Ack.LEASE_LOST, Ack.ACCEPTED);
    assertThat(operations.succeeded(first, mine.lease())).isTrue();
    assertThat(operations.succeeded(new LeaseHolder.Worker(OTHER, "w1"), mine.lease())).isFalse();
  }

  @Test
  void leases_of_another_tenant_or_worker_are_not_extended() {
    assertThat(operations.extend(ACME, Map.of(mine.lease(), "w1", second.lease(), "w1"), LEASE))
        .extracting(HeartbeatResult::lease, HeartbeatResult::ack)
        .containsExactlyInAnyOrder(
            tuple(mine.lease(), Ack.ACCEPTED), tuple(second.lease(), Ack.LEASE_LOST));
    assertThat(operations.extend(OTHER, Map.of(mine.lease(), "w1"), LEASE))
        .extracting(HeartbeatResult::ack)
        .containsExactly(Ack.LEASE_LOST);
    assertThat(operations.heldBy(new LeaseHolder.Worker(ACME, "w1"))).containsExactly(mine.lease());
    assertThat(operations.heldBy(new LeaseHolder.Worker(OTHER, "w1"))).isEmpty();
  }
}
