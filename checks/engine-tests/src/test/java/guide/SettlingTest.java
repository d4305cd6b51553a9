package guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.JobContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Settling in your own transaction. */
class SettlingTest extends Guide {
  @BeforeAll
  void makeLedger() {
    db.sql("CREATE TABLE ledger (customer text, cents bigint)");
  }

  // region charge
  Object charge(Charge charge, JobContext context) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement statement =
          connection.prepareStatement("INSERT INTO ledger (customer, cents) VALUES (?, ?)")) {
        statement.setString(1, charge.customer());
        statement.setLong(2, charge.cents());
        statement.executeUpdate();
      }
      holdfast.succeed(connection, context, Map.of("charged", charge.cents()));
      connection.commit();
    }
    return null;
  }

  // endregion

  private long entries(String customer) {
    return db.count("SELECT count(*) FROM ledger WHERE customer = ?", customer);
  }

  @Test
  void the_entry_and_the_success_of_the_job_commit_together() {
    JobId id = enqueue(Job.of("charge", new Charge("ada", 4_200)));
    holdfast.worker("default").handle("charge", Charge.class, this::charge).drain();
    assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
    assertThat(String.valueOf(status(id).result())).isEqualTo("{\"charged\": 4200}");
    assertThat(entries("ada")).isEqualTo(1);
  }

  @Test
  void an_attempt_that_lost_its_lease_writes_nothing() {
    JobId id = enqueue(Job.of("charge", new Charge("grace", 4_200)).queue("lost"));
    AtomicReference<Exception> thrown = new AtomicReference<>();
    holdfast
        .worker("lost")
        .handle(
            "charge",
            Charge.class,
            (charge, context) -> {
              try {
                if (context.lease().attempt() == 1) {
                  takeAway(context.id());
                }
                return charge(charge, context);
              } catch (Exception refused) {
                thrown.set(refused);
                throw refused;
              }
            })
        .drain();
    // Or whatever an interrupt leads to, if the worker's first heartbeat came just then.
    assertThat(thrown.get()).isNotNull();
    until(() -> state(id) != JobState.RUNNING);
    holdfast.worker("lost").handle("charge", Charge.class, this::charge).drain();
    assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
    assertThat(status(id).attempt()).isEqualTo(2);
    assertThat(entries("grace")).isEqualTo(1);
  }

  @Test
  void a_handler_that_does_not_commit_has_failed() {
    JobId id = enqueue(Job.of("forgets").queue("forgets").maxAttempts(1));
    holdfast
        .worker("forgets")
        .handle(
            "forgets",
            Json.class,
            (payload, context) -> {
              try (Connection connection = dataSource.getConnection()) {
                assertThatThrownBy(() -> holdfast.succeed(connection, context, null))
                    .hasMessageContaining("auto-commit");
                connection.setAutoCommit(false);
                holdfast.succeed(connection, context, null);
                connection.rollback();
              }
              return "as if nothing had happened";
            })
        .drain();
    assertThat(state(id)).isEqualTo(JobState.FAILED);
    assertThat(holdfast.queries().attempts(id))
        .singleElement()
        .satisfies(
            attempt -> {
              assertThat(attempt.outcome()).isEqualTo(AttemptOutcome.FAILED);
              assertThat(attempt.failure().code()).isEqualTo("HANDLER_FAILED");
            });
  }
}
