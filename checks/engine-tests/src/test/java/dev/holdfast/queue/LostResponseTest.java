package dev.holdfast.queue;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.testkit.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** The server executed the statement, and its response was lost. */
class LostResponseTest extends QueueFixture {
  private FaultProxy proxy;
  private JobStore remote;

  @BeforeEach
  void connect() {
    proxy = FaultProxy.before(db);
    remote =
        new JobStore(
            db.dataSource(proxy, 4),
            new JacksonCodec(),
            new JobStore.Options(3, StatementObserver.NONE));
    remote.queries().find(job().id());
  }

  @AfterEach
  void disconnect() {
    remote.close();
    proxy.close();
  }

  private static void assertLost(CountDownLatch lost) throws InterruptedException {
    assertThat(lost.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void an_enqueue_whose_response_was_lost_is_resolved_by_its_id() throws Exception {
    Job job = job();
    CountDownLatch lost = proxy.loseNextReplyTo("INSERT INTO holdfast.job");
    assertThat(remote.jobs().enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
    assertLost(lost);
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }

  @Test
  void an_enqueue_whose_commit_response_was_lost_is_resolved_by_its_id() throws Exception {
    Job job = job().uniqueKey("k");
    CountDownLatch lost = proxy.loseNextReplyTo("COMMIT");
    assertThat(remote.jobs().enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
    assertLost(lost);
    assertThat(count(JobState.PENDING)).isEqualTo(1);
    assertThat(remote.jobs().enqueue(job().uniqueKey("k"))).isEqualTo(new Enqueued(job.id(), true));
  }

  @Test
  void a_settle_whose_response_was_lost_counts_once() throws Exception {
    Lease done = running();
    CountDownLatch first = proxy.loseNextReplyTo("SUCCEEDED");
    assertThat(remote.jobs().settle(succeed(done))).isEqualTo(Ack.ACCEPTED);
    assertLost(first);
    Lease failed = running();
    CountDownLatch second = proxy.loseNextReplyTo("INSERT INTO holdfast.attempt");
    assertThat(remote.jobs().settle(fail(failed, FLAKY))).isEqualTo(Ack.ACCEPTED);
    assertLost(second);
    Lease snoozed = running();
    CountDownLatch third = proxy.loseNextReplyTo("INSERT INTO holdfast.attempt");
    assertThat(remote.jobs().settle(new Settlement.Snooze(snoozed, Duration.ofHours(1))))
        .isEqualTo(Ack.ACCEPTED);
    assertLost(third);

    assertThat(state(done.job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(status(failed.job()).failures()).isEqualTo(1);
    assertThat(queries.attempts(failed.job())).hasSize(1);
    assertThat(queries.attempts(snoozed.job())).hasSize(1);
  }

  @Test
  void a_claim_whose_response_was_lost_is_not_repeated_and_can_be_found() throws Exception {
    queue.enqueue(jobs(10));
    CountDownLatch lost = proxy.loseNextReplyTo("SET state = 'RUNNING'");
    assertThatThrownBy(() -> remote.jobs().claim(new ClaimRequest(QUEUE, 3, WORKER, LEASE)))
        .isInstanceOf(DatabaseException.class)
        .satisfies(thrown -> assertThat(((DatabaseException) thrown).isTransient()).isTrue());
    assertLost(lost);
    List<Lease> held = remote.jobs().heldBy(WORKER);
    assertThat(held).hasSize(3);
    assertThat(count(JobState.RUNNING)).isEqualTo(3);
    assertThat(remote.jobs().settle(List.of(new Settlement.Release(held.getFirst(), false))))
        .containsExactly(Ack.ACCEPTED);
  }

  @Test
  void a_heartbeat_whose_response_was_lost_is_sent_again() throws Exception {
    Lease lease = running();
    remote.jobs().heartbeat(List.of(lease), LEASE);
    CountDownLatch lost = proxy.loseNextReplyTo("heartbeat_at = statement_timestamp()");
    assertThat(remote.jobs().heartbeat(List.of(lease), LEASE).getFirst().ack())
        .isEqualTo(Ack.ACCEPTED);
    assertLost(lost);
  }

  @Test
  void an_unreachable_database_is_reported_as_unavailable_until_it_is_back() {
    PGSimpleDataSource noPool = new PGSimpleDataSource();
    noPool.setUrl(proxy.url(db));
    noPool.setUser(db.user());
    noPool.setPassword(db.password());
    try (JobStore patient = new JobStore(noPool, new JacksonCodec(), JobStore.Options.DEFAULT)) {
      proxy.cut();
      assertThatThrownBy(() -> patient.jobs().enqueue(job()))
          .isInstanceOf(DatabaseException.class)
          .satisfies(
              thrown ->
                  assertThat(((DatabaseException) thrown).reason())
                      .isEqualTo(DatabaseException.Reason.UNAVAILABLE));
      proxy.mend();
      patient.jobs().enqueue(job());
    }
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }
}
