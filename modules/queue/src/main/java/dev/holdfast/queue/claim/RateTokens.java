package dev.holdfast.queue.claim;

import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The tokens of a queue's rate limit, one for each start: a bucket that fills evenly and holds the
 * tokens of one period, so a queue that was quiet may begin with a burst. Used only under the lock
 * of {@link ClaimByRules}.
 */
final class RateTokens {
  /** Gives the tokens of a queue that has a rate. */
  static final String FILL =
      """
      UPDATE holdfast.queue
         SET rate_tokens = least(
               rate_limit,
               coalesce(rate_tokens, rate_limit)
                 + extract(epoch FROM statement_timestamp()
                             - coalesce(rate_tokens_at, statement_timestamp()))
                   * 1000.0 * rate_limit / rate_period_ms),
             rate_tokens_at = statement_timestamp()
       WHERE name = :queue AND rate_limit IS NOT NULL
      RETURNING rate_tokens
      """;

  private static final Sql SPEND =
      Sql.of(
          """
          UPDATE holdfast.queue SET rate_tokens = rate_tokens - :started
           WHERE name = :queue AND rate_limit IS NOT NULL
          """);

  private RateTokens() {}

  static void spend(Connection connection, String queue, int started) throws SQLException {
    if (started > 0) {
      SPEND.on(connection).set("started", started).set("queue", queue).update();
    }
  }
}
