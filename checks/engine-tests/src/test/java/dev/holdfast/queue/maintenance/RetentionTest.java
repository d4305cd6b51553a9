package dev.holdfast.queue.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class RetentionTest extends QueueFixture {
  private static final Duration DAY = Duration.ofDays(1);

  private void age(JobId job) {
    set(job, "finished_at = finished_at - interval '25 hours'");
  }

  private JobId ended(JobState state) {
    Lease lease = running();
    queue.settle(
        switch (state) {
          case SUCCEEDED -> succeed(lease);
          case FAILED -> fail(lease, HOPELESS);
          default -> new Settlement.Cancel(lease, null);
        });
    assertThat(state(lease.job())).isEqualTo(state);
    return lease.job();
  }

  @ParameterizedTest
  @EnumSource(names = {"SUCCEEDED", "FAILED", "CANCELLED"})
  void only_old_jobs_of_the_given_state_are_deleted(JobState state) {
    JobId old = ended(state);
    JobId young = ended(state);
    age(old);
    for (JobState other : JobState.TERMINAL) {
      if (other != state) {
        age(ended(other));
      }
    }
    assertThat(maintenance.retain(state, DAY)).isEqualTo(1);
    assertThat(queries.find(old)).isEmpty();
    assertThat(queries.find(young)).isPresent();
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(3);
    assertThat(maintenance.retain(state, DAY)).isZero();
  }

  @Test
  void jobs_that_have_not_ended_are_not_read() throws SQLException {
    queue.enqueue(jobs(3_000));
    db.sql("VACUUM (ANALYZE) holdfast.job");
    try (Connection connection = db.connection()) {
      long before = readBySequentialScans(connection);
      assertThat(Retention.delete(connection, JobState.SUCCEEDED, DAY, 1_000)).isZero();
      assertThat(readBySequentialScans(connection) - before).isLessThan(3_000);
    }
  }

  /** This session's part is counted at once. */
  private static long readBySequentialScans(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_stat_force_next_flush()");
      try (ResultSet read =
          statement.executeQuery(
              "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'job'")) {
        read.next();
        return read.getLong(1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      names = {"SUCCEEDED", "FAILED", "CANCELLED"},
      mode = Mode.EXCLUDE)
  void a_job_that_has_not_ended_is_never_deleted(JobState state) {
    assertThatThrownBy(() -> maintenance.retain(state, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("never deleted");
  }

  @Test
  void unfinished_jobs_are_kept_at_any_age() {
    running();
    add(job());
    db.sql("UPDATE holdfast.job SET created_at = now() - interval '10 years'");
    JobState.TERMINAL.forEach(
        state -> assertThat(maintenance.retain(state, Duration.ZERO)).isZero());
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(2);
  }

  @Test
  void the_history_of_a_job_is_deleted_with_it() {
    Lease first = running();
    queue.report(List.of(new Report.Event(first, "note", Json.EMPTY)));
    queue.settle(new Settlement.Release(first, false));
    queue.settle(succeed(claimOne()));
    Lease kept = running();
    queue.settle(fail(kept, HOPELESS));
    age(first.job());
    assertThat(maintenance.retain(JobState.SUCCEEDED, DAY)).isEqualTo(1);
    assertThat(queries.timeline(first.job())).isEmpty();
    assertThat(queries.attempts(first.job())).isEmpty();
    assertThat(db.count("SELECT count(*) FROM holdfast.event")).isEqualTo(1);
    assertThat(db.count("SELECT count(*) FROM holdfast.attempt")).isEqualTo(1);
  }

  @Test
  void one_call_deletes_a_bounded_number() {
    queue.enqueue(jobs(1_100));
    queue.settle(
        queue.claim(new ClaimRequest(QUEUE, 1_100, WORKER, LEASE)).jobs().stream()
            .map(job -> (Settlement) succeed(job.lease()))
            .toList());
    db.sql("UPDATE holdfast.job SET finished_at = now() - interval '2 days'");
    assertThat(maintenance.retain(JobState.SUCCEEDED, DAY)).isEqualTo(1_000);
    assertThat(maintenance.retain(JobState.SUCCEEDED, DAY)).isEqualTo(100);
  }

  @Test
  void jobs_of_other_states_do_not_count_towards_the_number_that_is_deleted() throws SQLException {
    for (int i = 0; i < 3; i++) {
      age(ended(JobState.SUCCEEDED));
      age(ended(JobState.FAILED));
    }
    try (Connection connection = db.connection()) {
      for (JobState state : List.of(JobState.SUCCEEDED, JobState.FAILED)) {
        assertThat(Retention.delete(connection, state, DAY, 2)).isEqualTo(2);
        assertThat(Retention.delete(connection, state, DAY, 2)).isEqualTo(1);
      }
    }
  }

  @Test
  void a_job_that_is_being_retried_is_not_deleted() {
    JobId failed = ended(JobState.FAILED);
    age(failed);
    queue.retry(List.of(failed), Tenant.ANY);
    assertThat(maintenance.retain(JobState.FAILED, DAY)).isZero();
    assertThat(state(failed)).isEqualTo(JobState.PENDING);
  }

  @Test
  void several_nodes_may_delete_concurrently() {
    queue.enqueue(jobs(300));
    queue.settle(
        queue.claim(new ClaimRequest(QUEUE, 300, WORKER, LEASE)).jobs().stream()
            .map(job -> (Settlement) succeed(job.lease()))
            .toList());
    db.sql("UPDATE holdfast.job SET finished_at = now() - interval '2 days'");
    List<Integer> deleted = Parallel.run(4, i -> () -> maintenance.retain(JobState.SUCCEEDED, DAY));
    assertThat(deleted.stream().mapToInt(Integer::intValue).sum()).isEqualTo(300);
  }
}
