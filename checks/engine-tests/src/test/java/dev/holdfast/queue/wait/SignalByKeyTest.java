package dev.holdfast.queue.wait;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.SignalToJob.Answer;
import dev.holdfast.queue.JobQueue.Told;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.testkit.Eventually;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Signals to the job that holds a unique key. */
class SignalByKeyTest extends QueueFixture {
  private static final SignalToJob GO = new SignalToJob("go", new Json("1"), null, "ada");

  private Told signal() {
    return queue.signal("test", "only", GO, Tenant.of("default"));
  }

  @Test
  void the_job_that_holds_the_key_is_told_and_after_its_end_nobody() {
    assertThat(signal()).isEqualTo(new Told(null, Answer.NO_SUCH_JOB));
    JobId job = add(job().uniqueKey("only"));
    assertThat(signal()).isEqualTo(new Told(job, Answer.ACCEPTED));
    assertThat(queue.signal("test", "only", GO, Tenant.of("other")).answer())
        .isEqualTo(Answer.NO_SUCH_JOB);
    assertThat(queue.signal("other", "only", GO, Tenant.of("default")).answer())
        .isEqualTo(Answer.NO_SUCH_JOB);
    queue.settle(succeed(claimOne()));
    assertThat(signal()).isEqualTo(new Told(null, Answer.NO_SUCH_JOB));
  }

  @Test
  void a_signal_by_key_that_meets_the_end_of_a_turn_is_told_to_the_next() throws Exception {
    JobId job = add(job().uniqueKey("only"));
    Lease lease = claimOne();
    JobId next = JobId.ofSuccessor(job);
    try (ExecutorService threads = Executors.newCachedThreadPool();
        Connection holding = db.connection()) {
      holding.setAutoCommit(false);
      // The settle has locked the job, and waits for this row to be there or not.
      try (PreparedStatement insert =
          holding.prepareStatement(
              "INSERT INTO holdfast.job (id, run_at, created_at, run_id, max_attempts, max_crashes,"
                  + " priority, state, queue, kind, tenant, workspace, run_key, payload)"
                  + " SELECT ?, run_at, created_at, run_id, max_attempts, max_crashes, priority,"
                  + " 'PENDING', queue, kind, tenant, workspace, run_key, payload"
                  + " FROM holdfast.job WHERE id = ?")) {
        insert.setObject(1, next.value());
        insert.setObject(2, job.value());
        assertThat(insert.executeUpdate()).isEqualTo(1);
      }
      CompletableFuture<Ack> continued =
          CompletableFuture.supplyAsync(
              () -> queue.settle(new Settlement.Continue(lease, new Json("2"))), threads);
      awaitWaiting(1);
      CompletableFuture<Told> told =
          CompletableFuture.supplyAsync(
              () -> another().jobs().signal("test", "only", GO, Tenant.of("default")), threads);
      awaitWaiting(2);
      holding.rollback();
      assertThat(continued.join()).isEqualTo(Ack.ACCEPTED);
      assertThat(told.join()).isEqualTo(new Told(next, Answer.ACCEPTED));
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.signal WHERE job_id = '" + next + "'"))
        .isEqualTo(1);
  }

  private static void awaitWaiting(int statements) {
    Eventually.until(
        () ->
            db.count(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND wait_event_type = 'Lock'")
                >= statements);
  }
}
