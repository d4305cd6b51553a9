package dev.holdfast.queue.admin;

import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What task tokens are signed with. */
public final class TokenKeys {
  private static final String IN_USE =
      """
      SELECT kid, secret, created_at
        FROM holdfast.signing_key
       WHERE retired_at IS NULL OR retired_at > clock_timestamp()
       ORDER BY created_at DESC, kid
      """;

  // Two servers that start at once make one key.
  private static final String FIRST =
      """
      INSERT INTO holdfast.signing_key (kid, secret, created_at)
      SELECT ?, ?, clock_timestamp()
       WHERE NOT EXISTS (SELECT FROM holdfast.signing_key WHERE retired_at IS NULL)
      """;

  private static final String TURN =
      "SELECT pg_advisory_xact_lock(hashtext('holdfast.signing_key'))";

  private static final String NEXT =
      """
      INSERT INTO holdfast.signing_key (kid, secret, created_at)
      VALUES (?, ?, clock_timestamp())
      ON CONFLICT (kid) DO NOTHING
      """;

  private static final String RETIRE =
      """
      UPDATE holdfast.signing_key
         SET retired_at = clock_timestamp() + ? * interval '1 millisecond'
       WHERE kid <> ? AND retired_at IS NULL
      """;

  private static final String DROP =
      "DELETE FROM holdfast.signing_key WHERE retired_at < clock_timestamp()";

  private TokenKeys() {}

  public static List<TokenKey> inUse(Connection connection) throws SQLException {
    return Rows.list(
        connection, row -> new TokenKey(row.getString("kid"), row.getString("secret")), IN_USE);
  }

  public static boolean first(Connection connection, TokenKey key) throws SQLException {
    Rows.list(connection, row -> "", TURN);
    return Rows.update(connection, FIRST, key.kid(), key.secret()) == 1;
  }

  /** The new one signs from now on; those before it are believed for a while longer. */
  public static boolean rotate(Connection connection, TokenKey key, Duration overlap)
      throws SQLException {
    Rows.list(connection, row -> "", TURN);
    Rows.update(connection, NEXT, key.kid(), key.secret());
    Rows.update(connection, RETIRE, overlap, key.kid());
    Rows.update(connection, DROP);
    return true;
  }
}
