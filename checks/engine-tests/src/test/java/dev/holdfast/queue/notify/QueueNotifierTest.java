package dev.holdfast.queue.notify;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.StatementObserver;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QueueNotifierTest extends QueueFixture {
  private final BlockingQueue<String> rings = new LinkedBlockingQueue<>();
  private final List<AutoCloseable> listening = new ArrayList<>();

  /** Returns once the listener listens: it notifies every queue when it begins. */
  private void listenTo(String... queues) throws Exception {
    listening.add(another().notifier().subscribe(List.of(queues), rings::add));
    List<String> begun = new ArrayList<>();
    while (begun.size() < queues.length) {
      begun.add(next());
    }
    assertThat(begun).containsExactlyInAnyOrder(queues);
  }

  private String next() throws InterruptedException {
    String ring = rings.poll(SOON.toSeconds(), TimeUnit.SECONDS);
    return ring == null ? "nothing" : ring;
  }

  @AfterEach
  void stopListening() throws Exception {
    for (AutoCloseable listener : listening) {
      listener.close();
    }
  }

  @Test
  void an_enqueue_notifies_its_queue() throws Exception {
    listenTo("mail", QUEUE);
    add(job());
    assertThat(next()).isEqualTo(QUEUE);
    queue.enqueue(List.of(job().queue("mail"), job().queue("mail"), job().queue("unheard")));
    assertThat(next()).isEqualTo("mail");
    assertThat(rings).isEmpty();
  }

  @Test
  void an_enqueue_notifies_its_own_process_once() throws Exception {
    listening.add(opened.notifier().subscribe(List.of(QUEUE, "other"), rings::add));
    assertThat(List.of(next(), next())).containsExactlyInAnyOrder(QUEUE, "other");
    for (int i = 0; i < 5; i++) {
      add(job());
      assertThat(next()).isEqualTo(QUEUE);
      // Arrives after the notification of the enqueue, which this process must ignore.
      another().jobs().enqueue(job().queue("other"));
      assertThat(next()).isEqualTo("other");
    }
  }

  @Test
  void an_enqueue_in_the_callers_transaction_notifies_at_its_commit() throws Exception {
    listenTo("mine", "other");
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.enqueue(connection, List.of(job().queue("mine")));
      add(job().queue("other"));
      assertThat(next()).isEqualTo("other");
      connection.commit();
      assertThat(next()).isEqualTo("mine");
    }
  }

  @Test
  void an_enqueue_that_is_rolled_back_sends_no_notification() throws Exception {
    listenTo("mine", "other");
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.enqueue(connection, List.of(job().queue("mine")));
      connection.rollback();
    }
    add(job().queue("other"));
    assertThat(next()).isEqualTo("other");
    assertThat(rings).isEmpty();
  }

  @Test
  void a_job_that_is_due_in_hours_sends_no_notification() throws Exception {
    listenTo("later", "now");
    add(job().queue("later").delay(Duration.ofHours(3)));
    add(job().queue("now"));
    assertThat(next()).isEqualTo("now");
    assertThat(rings).isEmpty();
  }

  @Test
  void reap_retry_resume_and_a_new_limit_notify() throws Exception {
    Lease lease = running();
    listenTo(QUEUE);
    expire(lease);
    maintenance.reap(Duration.ZERO);
    assertThat(next()).isEqualTo(QUEUE);
    queue.cancel(List.of(lease.job()), false, "x", Tenant.ANY);
    queue.retry(List.of(lease.job()), Tenant.ANY);
    assertThat(next()).isEqualTo(QUEUE);
    admin.pause(QUEUE);
    admin.resume(QUEUE);
    assertThat(next()).isEqualTo(QUEUE);
    admin.limit(QUEUE, 5);
    assertThat(next()).isEqualTo(QUEUE);
  }

  @Test
  void a_listener_whose_connection_died_notifies_all_queues_and_listens_again() throws Exception {
    listenTo(QUEUE);
    db.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = ? AND pid <> pg_backend_pid()",
        db.name());
    assertThat(next()).isEqualTo(QUEUE);
    add(job());
    assertThat(next()).isEqualTo(QUEUE);
  }

  @Test
  void a_listener_whose_callback_throws_continues_to_listen() throws Exception {
    AtomicInteger thrown = new AtomicInteger();
    listening.add(
        another()
            .notifier()
            .subscribe(
                List.of(QUEUE),
                name -> {
                  thrown.incrementAndGet();
                  rings.add(name);
                  throw new IllegalStateException("on purpose");
                }));
    assertThat(next()).isEqualTo(QUEUE);
    add(job());
    assertThat(next()).isEqualTo(QUEUE);
    add(job());
    assertThat(next()).isEqualTo(QUEUE);
    assertThat(thrown).hasValue(3);
  }

  @Test
  void a_closed_listener_notifies_nothing_and_returns_its_connection() throws Exception {
    JobStore listener = another();
    AutoCloseable closed = listener.notifier().subscribe(List.of(QUEUE), rings::add);
    assertThat(next()).isEqualTo(QUEUE);
    closed.close();
    await()
        .atMost(SOON)
        .until(
            () ->
                db.count(
                        "SELECT count(*) FROM pg_stat_activity"
                            + " WHERE datname = ? AND query LIKE 'LISTEN%'",
                        db.name())
                    == 0);
    listenTo("other");
    add(job());
    add(job().queue("other"));
    assertThat(next()).isEqualTo("other");
    assertThat(rings).isEmpty();
  }

  @Test
  void closing_a_queue_sends_its_pending_notifications() throws Exception {
    listenTo(QUEUE);
    for (int i = 0; i < 5; i++) {
      try (JobStore shortLived = another()) {
        shortLived.jobs().enqueue(job());
      }
      assertThat(next()).isEqualTo(QUEUE);
    }
  }

  @Test
  void a_closed_queue_can_be_closed_again_and_still_enqueues() {
    JobStore closed = another();
    closed.jobs().enqueue(job());
    closed.close();
    closed.close();
    assertThat(closed.jobs().enqueue(job()).duplicate()).isFalse();
  }

  @Test
  void many_enqueues_share_notifications() {
    AtomicInteger rang = new AtomicInteger();
    StatementObserver counting =
        (verb, took, error) -> {
          if (verb.equals("notify")) {
            rang.incrementAndGet();
          }
        };
    try (JobStore counted =
        new JobStore(db.dataSource(), new JacksonCodec(), new JobStore.Options(4, counting))) {
      Parallel.run(
          8,
          i ->
              () -> {
                for (int n = 0; n < 50; n++) {
                  counted.jobs().enqueue(job());
                }
                return true;
              });
    }
    assertThat(rang.get()).isBetween(1, 399);
  }

  @Test
  void subscribing_to_an_invalid_queue_name_is_refused() {
    assertRefused(
        Refusal.BAD_NAME,
        () ->
            opened
                .notifier()
                .subscribe(List.of("x\"; DROP SCHEMA holdfast CASCADE; --"), rings::add));
    assertThat(count(JobState.PENDING)).isZero();
  }

  @Test
  void a_retry_promoted_by_the_sweep_notifies() throws Exception {
    add(job());
    Lease lease = claimOne();
    queue.settle(
        new Settlement.Fail(
            lease, Failure.of(FailureCategory.INFRASTRUCTURE, "BUSY", "later"), Duration.ZERO));
    listenTo(QUEUE);
    assertThat(maintenance.promote()).isEqualTo(1);
    assertThat(next()).isEqualTo(QUEUE);
  }
}
