package dev.holdfast.queue.wait;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.attempt.WaitEnd.Outcome;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.SignalToJob.Answer;
import dev.holdfast.model.wait.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignalTest extends WaitFixture {
  @Test
  void a_signal_wakes_the_job_that_waits_for_it() {
    Lease lease = suspended(forSignal("go"));
    assertThat(signal(lease.job(), "other", "0")).isEqualTo(Answer.ACCEPTED);
    assertThat(state(lease.job())).isEqualTo(JobState.WAITING);
    assertThat(signal(lease.job(), "go", "{\"a\": 1}")).isEqualTo(Answer.ACCEPTED);
    assertThat(state(lease.job())).isEqualTo(JobState.PENDING);
    WaitEnd end = end(lease.job(), "go");
    assertThat(end == null ? null : end.by()).isEqualTo("tester");
    assertThat(queries.steps(lease.job()).getFirst().checkpoint())
        .isEqualTo(new Json("{\"a\": 1}"));
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "suspended", "signal", "signal", "resumed");
  }

  @Test
  void signals_that_came_before_are_taken_in_their_order_each_once() {
    JobId job = add(job());
    signal(job, "go", "1");
    signal(job, "go", "2");
    Lease lease = claimOne();
    assertThat(payload(suspend(lease, new Wait.ForSignal("a", "go", null)))).contains("1");
    assertThat(payload(suspend(lease, new Wait.ForSignal("b", "go", null)))).contains("2");
    assertThat(suspend(lease, new Wait.ForSignal("c", "go", null))).isEqualTo(WaitAnswer.SUSPENDED);
  }

  private static String payload(WaitAnswer answer) {
    return String.valueOf(((WaitAnswer.Over) answer).payload());
  }

  @Test
  void a_signal_with_a_key_counts_once_also_when_it_was_taken() {
    Lease lease = suspended(forSignal("go"));
    assertThat(signal(lease.job(), "go", "1", "k")).isEqualTo(Answer.ACCEPTED);
    assertThat(signal(lease.job(), "go", "2", "k")).isEqualTo(Answer.DUPLICATE);
    Lease again = claimOne();
    assertThat(suspend(again, new Wait.ForSignal("b", "go", null))).isEqualTo(WaitAnswer.SUSPENDED);
    queue.cancel(List.of(lease.job()), false, "x", Tenant.ANY);
    assertThat(signal(lease.job(), "go", "1", "k")).isEqualTo(Answer.DUPLICATE);
  }

  @Test
  void a_wait_that_nothing_has_ended_in_time_is_over_and_a_later_signal_stays() {
    Lease lease = suspended(new Wait.ForSignal("go", "go", Duration.ofDays(1)));
    passTime(lease.job());
    assertThat(maintenance.promote()).isEqualTo(1);
    WaitEnd end = end(lease.job(), "go");
    assertThat(end == null ? null : end.outcome()).isEqualTo(Outcome.TIMEOUT);
    assertThat(signal(lease.job(), "go", "1")).isEqualTo(Answer.ACCEPTED);
    Lease next = claimOne();
    assertThat(payload(suspend(next, new Wait.ForSignal("b", "go", null)))).contains("1");
  }

  @Test
  void no_job_an_ended_job_and_a_job_of_another_tenant_are_answered_as_such() {
    assertThat(signal(JobId.next(), "go", "1")).isEqualTo(Answer.NO_SUCH_JOB);
    Lease ended = running();
    queue.settle(succeed(ended));
    assertThat(signal(ended.job(), "go", "1")).isEqualTo(Answer.ALREADY_TERMINAL);
    JobId job = add(job());
    assertThat(
            queue.signal(job, new SignalToJob("go", new Json("1"), null, ""), Tenant.of("another")))
        .isEqualTo(Answer.NO_SUCH_JOB);
    assertThat(events(job)).containsExactly("created");
  }

  @Test
  void a_mailbox_is_bounded() {
    JobId job = add(job());
    db.sql(
        "INSERT INTO holdfast.signal (job_id, number, name, payload, sent_by, sent_at)"
            + " SELECT ?, n, 'go', '1', '', now() FROM generate_series(1001, 2000) AS n",
        job.value());
    assertThat(signal(job, "go", "1")).isEqualTo(Answer.MAILBOX_FULL);
  }

  @Test
  void bad_names_and_payloads_are_refused() {
    JobId job = add(job());
    assertRefused(Refusal.BAD_NAME, () -> signal(job, "a\nb", "1"));
    assertRefused(
        Refusal.PAYLOAD_TOO_LARGE, () -> signal(job, "go", "\"" + "x".repeat(2 << 20) + "\""));
    assertRefused(Refusal.PAYLOAD_NOT_JSON, () -> signal(job, "go", "\"\\u0000\""));
    assertRefused(Refusal.BAD_KEY, () -> signal(job, "go", "1", " "));
  }

  @Test
  void a_job_is_found_by_its_unique_key() {
    JobId job = add(job().unique(Unique.by("order-1")));
    assertThat(queries.holderOf("order-1", "test", Tenant.of("default"))).contains(job);
    assertThat(queries.holderOf("order-2", "test", Tenant.of("default"))).isEmpty();
    assertThat(queries.holderOf("order-1", "test", Tenant.of("another"))).isEmpty();
  }

  @Test
  void a_signal_in_a_transaction_is_sent_with_its_commit() throws SQLException {
    Lease lease = suspended(forSignal("go"));
    try (Connection connection = db.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      SignalToJob signal = new SignalToJob("go", new Json("1"), null, "");
      queue.signal(connection, lease.job(), signal, Tenant.ANY);
      connection.rollback();
      assertThat(state(lease.job())).isEqualTo(JobState.WAITING);
      queue.signal(connection, lease.job(), signal, Tenant.ANY);
      connection.commit();
    }
    assertThat(state(lease.job())).isEqualTo(JobState.PENDING);
  }
}
