package dev.holdfast.queue.claim;

import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * How many jobs of a queue may start in a span of time: a bucket of tokens that fills evenly and
 * holds one span's worth, so a queue that was quiet may begin with a burst. Used only under the
 * turn of {@link ClaimByRules}.
 */
final class RateLimit {
  /** Gives the tokens of a queue that has a rate. */
  static final String FILL =
      """
      UPDATE holdfast.queue
         SET tokens = least(
               rate_limit,
               coalesce(tokens, rate_limit)
                 + extract(epoch FROM statement_timestamp() - coalesce(tokens_at, statement_timestamp()))
                   * 1000.0 * rate_limit / rate_span_ms),
             tokens_at = statement_timestamp()
       WHERE name = :queue AND rate_limit IS NOT NULL
      RETURNING tokens
      """;

  private static final Sql SPEND =
      Sql.of(
          """
          UPDATE holdfast.queue SET tokens = tokens - :started
           WHERE name = :queue AND rate_limit IS NOT NULL
          """);

  private RateLimit() {}

  static void spend(Connection connection, String queue, int started) throws SQLException {
    if (started > 0) {
      SPEND.on(connection).set("started", started).set("queue", queue).update();
    }
  }
}
