package dev.holdfast.queue.history;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** History where there are many jobs, or many who ask. */
class BusyHistoryTest extends QueueFixture {
  private static final JobHistory.Query HOUR =
      new JobHistory.Query(Duration.ofHours(1), null, null, Tenant.ANY);

  private static boolean waits(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  @Test
  void those_who_wait_for_the_same_count_leave_the_connections_to_others() throws Exception {
    List<CompletableFuture<JobHistory>> answers = new ArrayList<>();
    try (JobStore small =
            new JobStore(
                db.dataSource(db.url(), 2),
                new JacksonCodec(),
                JobStore.Options.DEFAULT.connections(2));
        Connection slow = db.connection()) {
      slow.setAutoCommit(false);
      execute(slow, "LOCK TABLE holdfast.job IN ACCESS EXCLUSIVE MODE");
      List<Thread> readers =
          IntStream.range(0, 3)
              .mapToObj(
                  i -> {
                    CompletableFuture<JobHistory> answer = new CompletableFuture<>();
                    answers.add(answer);
                    return Thread.ofPlatform()
                        .start(
                            () ->
                                answer.completeAsync(
                                    () -> small.queries().history(HOUR), Runnable::run));
                  })
              .toList();
      awaitLockWait();
      await()
          .atMost(SOON)
          .until(() -> readers.stream().filter(BusyHistoryTest::waits).count() == 2);
      assertThat(small.queries().now()).isNotNull();
      slow.rollback();
      for (CompletableFuture<JobHistory> answer : answers) {
        assertThat(answer.get().total().enqueued()).isZero();
      }
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void where_a_quarter_of_an_hour_is_too_much_at_once_less_is_summed_up() {
    db.sql(
        "INSERT INTO holdfast.history_cursor (known_since, summed_until)"
            + " SELECT at, at FROM (SELECT date_trunc('minute', now()) - interval '1 hour' AS at) AS c");
    db.sql(
        """
        CREATE FUNCTION public.limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF new.summed_until > old.summed_until + interval '2 minutes' THEN
            RAISE EXCEPTION 'as if the statement had taken too long';
          END IF;
          RETURN new;
        END $$
        """);
    db.sql(
        "CREATE TRIGGER limited BEFORE UPDATE ON holdfast.history_cursor"
            + " FOR EACH ROW EXECUTE FUNCTION public.limited()");
    try {
      await().atMost(SOON).until(this::isSummedUp);
    } finally {
      db.sql("DROP FUNCTION public.limited() CASCADE");
    }
  }

  /** Within three minutes: the last ones are not final yet. */
  private boolean isSummedUp() {
    try {
      maintenance.sumUpHistory();
    } catch (DatabaseException tooMuch) {
      assertThat(tooMuch).hasMessageContaining("too long");
    }
    return db.count(
            "SELECT count(*) FROM holdfast.history_cursor"
                + " WHERE summed_until > now() - interval '3 minutes'")
        == 1;
  }
}
