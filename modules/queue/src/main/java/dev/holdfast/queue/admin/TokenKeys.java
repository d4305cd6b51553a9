package dev.holdfast.queue.admin;

import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * Keys that tokens are signed with: the newest signs, older keys still verify for a while. Links to
 * questions live longer than task tokens: a retired key still verifies them.
 */
public final class TokenKeys {
  /** How long links outlive the key that signed them; no link lives longer. */
  public static final Duration LINKS = Duration.ofDays(30);

  private static final Sql IN_USE =
      Sql.of(
          """
          SELECT kid, secret, created_at
            FROM holdfast.signing_key
           WHERE retired_at IS NULL OR retired_at > clock_timestamp()
           ORDER BY created_at DESC, kid
          """);

  private static final Sql FOR_LINKS =
      Sql.of(
          """
          SELECT kid, secret, created_at
            FROM holdfast.signing_key
           WHERE retired_at IS NULL
              OR retired_at > clock_timestamp() - :links * interval '1 millisecond'
           ORDER BY created_at DESC, kid
          """);

  // Two servers that start at once make one key.
  private static final Sql FIRST =
      Sql.of(
          """
          INSERT INTO holdfast.signing_key (kid, secret, created_at)
          SELECT :kid, :secret, clock_timestamp()
           WHERE NOT EXISTS (SELECT FROM holdfast.signing_key WHERE retired_at IS NULL)
          """);

  private static final Sql LOCK =
      Sql.of("SELECT pg_advisory_xact_lock(hashtext('holdfast.signing_key'))");

  private static final Sql NEXT =
      Sql.of(
          """
          INSERT INTO holdfast.signing_key (kid, secret, created_at)
          VALUES (:kid, :secret, clock_timestamp())
          ON CONFLICT (kid) DO NOTHING
          """);

  private static final Sql RETIRE =
      Sql.of(
          """
          UPDATE holdfast.signing_key
             SET retired_at = clock_timestamp() + :overlap * interval '1 millisecond'
           WHERE kid <> :kid AND retired_at IS NULL
          """);

  private static final Sql DROP =
      Sql.of(
          """
          DELETE FROM holdfast.signing_key
           WHERE retired_at < clock_timestamp() - :links * interval '1 millisecond'
          """);

  private TokenKeys() {}

  public static List<TokenKey> inUse(Connection connection) throws SQLException {
    return IN_USE
        .on(connection)
        .list(row -> new TokenKey(row.getString("kid"), row.getString("secret")));
  }

  /** Those in use, and those that have retired but still verify links. */
  public static List<TokenKey> forLinks(Connection connection) throws SQLException {
    return FOR_LINKS
        .on(connection)
        .set("links", LINKS)
        .list(row -> new TokenKey(row.getString("kid"), row.getString("secret")));
  }

  public static boolean first(Connection connection, TokenKey key) throws SQLException {
    LOCK.on(connection).list(row -> true);
    return FIRST.on(connection).set("kid", key.kid()).set("secret", key.secret()).update() == 1;
  }

  /** The new one signs from now on; older keys still verify for a while. */
  public static boolean rotate(Connection connection, TokenKey key, Duration overlap)
      throws SQLException {
    LOCK.on(connection).list(row -> true);
    NEXT.on(connection).set("kid", key.kid()).set("secret", key.secret()).update();
    RETIRE.on(connection).set("overlap", overlap).set("kid", key.kid()).update();
    DROP.on(connection).set("links", LINKS).update();
    return true;
  }
}
