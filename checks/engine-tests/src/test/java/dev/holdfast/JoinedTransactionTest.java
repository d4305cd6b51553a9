package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Enqueues that join the transaction that the calling thread has. */
@OnlyDirect("it is about the caller's connection, and not about workers")
class JoinedTransactionTest extends LibraryTest {
  private final ThreadLocal<Connection> current = new ThreadLocal<>();

  @BeforeEach
  void join() {
    holdfast.joining(current::get);
  }

  private interface Work {
    void run() throws Exception;
  }

  private void inTransaction(boolean commits, Work work) throws Exception {
    try (Connection connection = db.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      current.set(connection);
      try {
        work.run();
        if (commits) {
          connection.commit();
        } else {
          connection.rollback();
        }
      } finally {
        current.remove();
        connection.rollback();
        connection.setAutoCommit(true);
      }
    }
  }

  @Test
  void jobs_are_visible_after_the_commit_and_not_before() throws Exception {
    Job one = Job.of("one");
    Job two = Job.of("two").unique(Unique.by("only"));
    inTransaction(
        true,
        () -> {
          holdfast.enqueue(one);
          holdfast.enqueue(List.of(two));
          assertThat(holdfast.find(one.id())).isEmpty();
        });
    assertThat(job(one.id()).state()).isEqualTo(JobState.PENDING);
    assertThat(job(two.id()).state()).isEqualTo(JobState.PENDING);
  }

  @Test
  void a_rollback_discards_the_jobs() throws Exception {
    Job one = Job.of("one");
    Job two = Job.of("two");
    inTransaction(
        false,
        () -> {
          holdfast.enqueue(one);
          holdfast.enqueue(List.of(two));
        });
    assertThat(holdfast.find(one.id())).isEmpty();
    assertThat(holdfast.find(two.id())).isEmpty();
  }

  @Test
  void outside_a_transaction_a_job_is_durable_at_once() {
    JobId id = holdfast.enqueue(Job.of("one")).id();
    assertThat(job(id).state()).isEqualTo(JobState.PENDING);
  }

  @Test
  void errors_of_the_database_and_refusals_are_thrown() throws Exception {
    inTransaction(
        false,
        () -> {
          assertThatThrownBy(() -> current.get().createStatement().execute("SELECT 1 / 0"))
              .isInstanceOf(SQLException.class);
          assertThatThrownBy(() -> holdfast.enqueue(Job.of("one")))
              .isInstanceOf(DatabaseException.class);
        });
    inTransaction(
        false,
        () ->
            assertThatThrownBy(() -> holdfast.enqueue(Job.of("one").dependsOn(JobId.next())))
                .isInstanceOf(RefusedException.class));
  }

  @Test
  void a_handler_settles_in_its_transaction() {
    JobId id = holdfast.enqueue(Job.of("post")).id();
    worker()
        .handle(
            "post",
            Json.class,
            (payload, context) -> {
              inTransaction(true, () -> holdfast.succeed(context, Map.of("posted", true)));
              return null;
            })
        .drain();
    assertThat(String.valueOf(holdfast.find(id).orElseThrow().result()))
        .isEqualTo("{\"posted\": true}");
  }

  @Test
  void settling_without_a_transaction_fails_the_attempt() {
    JobId id = holdfast.enqueue(Job.of("post").maxAttempts(1)).id();
    worker()
        .handle(
            "post",
            Json.class,
            (payload, context) -> {
              holdfast.succeed(context, null);
              return null;
            })
        .drain();
    assertThat(holdfast.find(id).orElseThrow().failure())
        .satisfies(failure -> assertThat(failure.message()).contains("this thread has none"));
  }
}
