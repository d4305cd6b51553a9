package dev.holdfast.server.routing;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which errors of the database are answered with 503, and which with 500. */
class DatabaseErrorsTest extends ServerTest {
  DatabaseErrorsTest(TestDatabase db) {
    super(db);
  }

  @Test
  void a_statement_that_postgresql_refuses_is_answered_with_500_and_logged_with_its_sqlstate() {
    db.sql("ALTER TABLE holdfast.job RENAME COLUMN progress_message TO renamed");
    try (CapturedLog log = CapturedLog.of(ExceptionProblems.class)) {
      Client.Reply reply = client.get("/v1/jobs", null).is(500, "internal");
      assertThat(reply.response().headers().firstValue("Retry-After")).isEmpty();
      assertThat(reply.body().get("message").asText()).doesNotContain("progress_message");
      assertThat(log.lines(Level.ERROR))
          .containsExactly(
              "GET /v1/jobs failed: PostgreSQL refused a statement with SQLSTATE 42703");
      assertThat(log.text()).contains("progress_message");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "42501, 500, internal",
    "23514, 500, internal",
    "53100, 503, database_unavailable",
    "57P03, 503, database_unavailable",
    "08006, 503, database_unavailable",
    "55P03, 503, database_busy"
  })
  void only_transient_errors_are_answered_with_503(String sqlState, int status, String error) {
    db.sql(
        "CREATE FUNCTION holdfast.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            + " RAISE EXCEPTION 'on purpose' USING ERRCODE = '"
            + sqlState
            + "'; END $$");
    db.sql(
        "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON holdfast.queue EXECUTE FUNCTION holdfast.refuse()");
    Client.Reply reply = client.patch("/v1/queues/q/limits", Map.of("maxRunning", 1), null);
    reply.is(status, error);
    assertThat(reply.response().headers().firstValue("Retry-After").isPresent())
        .isEqualTo(status == 503);
  }
}
