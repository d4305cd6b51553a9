package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.notify.DatabaseSubscription;
import dev.holdfast.server.http.ClientWatch;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.worker.LongPollBroker.Line;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DatabaseExtension.class)
class LongPollBrokerTest {
  private static final Line LINE = new Line("work", Tenant.ANY);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration GRACE = Duration.ofSeconds(30);
  private static final Duration LONG = Duration.ofMinutes(5);

  private final TestDatabase db;
  private final Holdfast holdfast;
  private final DatabaseSubscription subscription;
  private final LongPollBroker broker;
  private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

  LongPollBrokerTest(TestDatabase db) {
    this.db = db;
    this.holdfast = Holdfast.on(db.dataSource());
    this.subscription = holdfast.store().notifier().subscribeToDatabase();
    this.broker =
        new LongPollBroker(
            holdfast.jobs(),
            subscription,
            new RemoteAttempts(new Metrics(), holdfast.queries()::runTimes));
  }

  @AfterEach
  void close() {
    broker.close();
    subscription.close();
    workers.shutdownNow();
    holdfast.close();
  }

  /** Of a client that may have what it asks for. */
  private static LongPollBroker.Poll poll(String worker, int most) {
    return new LongPollBroker.Poll(worker, most, LEASE, GRACE, new Gate());
  }

  /** A client whose key can be revoked. */
  private static final class Gate implements LongPollBroker.Admission {
    final AtomicInteger asked = new AtomicInteger();
    volatile boolean mayClaim = true;
    volatile boolean mayHave = true;

    @Override
    public boolean mayClaim() {
      asked.incrementAndGet();
      return mayClaim;
    }

    @Override
    public void check() {
      if (!mayHave) {
        throw new Problem(401, "key_invalid", "revoked");
      }
    }
  }

  private JobId enqueued(String tenant) {
    return holdfast.enqueue(Job.of("echo").queue("work").owner(tenant, "default")).id();
  }

  private Future<List<LeasedJob>> waiting(Line line, String worker) {
    int before = broker.waiting();
    Future<List<LeasedJob>> lease =
        workers.submit(() -> broker.lease(line, poll(worker, 1), LONG, ClientWatch.NONE));
    await().atMost(SOON).until(() -> broker.waiting() > before || lease.isDone());
    return lease;
  }

  @Test
  void a_waiting_request_gets_a_task_when_one_is_enqueued() throws Exception {
    Future<List<LeasedJob>> lease = waiting(LINE, "w");
    JobId job = enqueued("default");
    assertThat(lease.get().getFirst().id()).isEqualTo(job);
  }

  @Test
  void a_request_without_a_wait_is_answered_at_once() throws Exception {
    assertThat(broker.lease(LINE, poll("w", 1), Duration.ZERO, ClientWatch.NONE)).isEmpty();
    JobId job = enqueued("default");
    assertThat(broker.lease(LINE, poll("w", 5), Duration.ZERO, ClientWatch.NONE))
        .extracting(LeasedJob::id)
        .containsExactly(job);
  }

  @Test
  void a_wait_without_a_task_times_out() throws Exception {
    assertThat(broker.lease(LINE, poll("w", 1), Duration.ofMillis(200), ClientWatch.NONE))
        .isEmpty();
    assertThat(broker.waiting()).isZero();
  }

  @Test
  void a_task_wakes_only_the_longest_waiting_request() throws Exception {
    List<Future<List<LeasedJob>>> leases = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      leases.add(waiting(LINE, "w" + i));
    }
    long claims = claims();
    enqueued("default");
    assertThat(leases.getFirst().get()).hasSize(1);
    enqueued("default");
    assertThat(leases.get(1).get()).hasSize(1);
    await().atMost(SOON).until(() -> broker.waiting() == 48);
    assertThat(leases.subList(2, 50)).noneMatch(Future::isDone);
    assertThat(claims()).isEqualTo(claims + 2);
  }

  private long claims() {
    return db.count("SELECT coalesce(sum(attempt), 0) FROM holdfast.job");
  }

  @Test
  void a_waiting_request_gets_a_task_that_becomes_due() throws Exception {
    Future<List<LeasedJob>> lease = waiting(LINE, "w");
    holdfast.enqueue(Job.of("echo").queue("work").delay(Duration.ofMillis(300)));
    assertThat(lease.get()).hasSize(1);
  }

  @Test
  void a_task_without_a_notification_is_found_by_polling() throws Exception {
    Future<List<LeasedJob>> lease = waiting(LINE, "w");
    holdfast.enqueue(Job.of("echo").queue("work").delay(Duration.ofHours(1)));
    db.sql("UPDATE holdfast.job SET run_at = now()");
    assertThat(lease.get()).hasSize(1);
  }

  @Test
  void each_tenants_workers_get_their_own_tasks_only() throws Exception {
    Future<List<LeasedJob>> red = waiting(new Line("work", Tenant.of("red")), "w1");
    Future<List<LeasedJob>> blue = waiting(new Line("work", Tenant.of("blue")), "w2");
    JobId job = enqueued("blue");
    assertThat(blue.get().getFirst().id()).isEqualTo(job);
    assertThat(red.isDone()).isFalse();
    JobId other = enqueued("red");
    assertThat(red.get().getFirst().id()).isEqualTo(other);
  }

  @Test
  void waiting_requests_are_answered_when_the_broker_closes() throws Exception {
    Future<List<LeasedJob>> lease = waiting(LINE, "w");
    broker.close();
    assertThat(lease.get()).isEmpty();
    assertThat(broker.lease(LINE, poll("w", 1), LONG, ClientWatch.NONE)).isEmpty();
  }

  @Test
  void a_leased_task_whose_client_is_gone_goes_to_the_next_waiting_request() throws Exception {
    JobId job = enqueued("default");
    List<LeasedJob> unfetched =
        broker.lease(LINE, poll("gone", 1), Duration.ZERO, ClientWatch.NONE);
    Future<List<LeasedJob>> next = waiting(LINE, "w");
    broker.release(unfetched);
    assertThat(next.get().getFirst().id()).isEqualTo(job);
  }

  @Test
  void a_client_that_may_not_claim_any_more_leaves_the_line_and_nothing_is_claimed_for_it()
      throws Exception {
    Gate gate = new Gate();
    LongPollBroker.Poll poll = new LongPollBroker.Poll("revoked", 1, LEASE, GRACE, gate);
    Future<List<LeasedJob>> revoked =
        workers.submit(() -> broker.lease(LINE, poll, LONG, ClientWatch.NONE));
    await().atMost(SOON).until(() -> gate.asked.get() > 0);
    gate.mayClaim = false;
    // Not by the length of the line: the first one leaves it at the same time.
    Gate admitted = new Gate();
    LongPollBroker.Poll after = new LongPollBroker.Poll("next", 1, LEASE, GRACE, admitted);
    Future<List<LeasedJob>> next =
        workers.submit(() -> broker.lease(LINE, after, LONG, ClientWatch.NONE));
    await().atMost(SOON).until(() -> admitted.asked.get() > 0);
    JobId job = enqueued("default");
    assertThat(next.get()).extracting(LeasedJob::id).containsExactly(job);
    assertThat(revoked.get()).isEmpty();
    assertThat(claims()).isEqualTo(1);
  }

  @Test
  void what_was_claimed_for_a_client_that_may_not_have_it_goes_to_the_next_and_counts_for_nothing()
      throws Exception {
    Gate gate = new Gate();
    gate.mayHave = false;
    LongPollBroker.Poll poll = new LongPollBroker.Poll("revoked", 1, LEASE, GRACE, gate);
    Future<List<LeasedJob>> revoked =
        workers.submit(() -> broker.lease(LINE, poll, LONG, ClientWatch.NONE));
    await().atMost(SOON).until(() -> broker.waiting() > 0);
    Future<List<LeasedJob>> next = waiting(LINE, "next");
    JobId job = enqueued("default");
    assertThat(next.get()).extracting(LeasedJob::id).containsExactly(job);
    assertThatThrownBy(revoked::get).hasCauseInstanceOf(Problem.class);
    JobStatus status = holdfast.queries().find(job).orElseThrow();
    assertThat(status.failures() + status.crashes()).isZero();
    assertThat(status.worker()).isEqualTo("next");
  }
}
