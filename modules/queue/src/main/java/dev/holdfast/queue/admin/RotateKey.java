package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Replaces an API key by a new one with the same rights and the same end. */
public final class RotateKey {
  // One statement: there is no moment with two keys and no end of the old one. The condition on the
  // old key is that of ApiKeys.valid, by the database's clock.
  private static final String SQL =
      """
      WITH made AS (
        -- Run again because its answer was lost, it finds its own row.
        SELECT id, name, role, tenant, created_at, expires_at, revoked_at
          FROM holdfast.api_key WHERE id = ? AND digest = ?
      ), old AS (
        UPDATE holdfast.api_key
           SET revoked_at = least(revoked_at, clock_timestamp() + ? * interval '1 millisecond')
         WHERE id = ? AND NOT EXISTS (SELECT FROM made)
           AND (revoked_at IS NULL OR revoked_at > clock_timestamp())
           AND (expires_at IS NULL OR expires_at > clock_timestamp())
        RETURNING name, role, tenant, expires_at
      ), fresh AS (
        INSERT INTO holdfast.api_key (id, name, role, tenant, digest, created_at, expires_at)
        SELECT ?, name, role, tenant, ?, clock_timestamp(), expires_at FROM old
        RETURNING id, name, role, tenant, created_at, expires_at, revoked_at
      )
      SELECT * FROM made UNION ALL SELECT * FROM fresh
      """;

  private RotateKey() {}

  /** The new key; empty when there is no such key, or it is not valid any more. */
  public static Optional<ApiKey> rotate(
      Connection connection, String old, String id, String digest, Duration overlap)
      throws SQLException {
    return Rows.list(connection, ApiKeys::read, SQL, id, digest, overlap, old, id, digest).stream()
        .findFirst();
  }
}
