package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Replaces an API key by a new one with the same rights and the same end. */
public final class RotateKey {
  // One statement: there is no moment with two keys and no end of the old one.
  private static final Sql SQL =
      Sql.of(
          """
          WITH made AS (
            -- Run again because its answer was lost, it finds its own row.
            SELECT id, name, role, tenant, created_at, expires_at, revoked_at
              FROM holdfast.api_key WHERE id = :id AND digest = :digest
          ), old AS (
            UPDATE holdfast.api_key
               SET revoked_at =
                     least(revoked_at, clock_timestamp() + :overlap * interval '1 millisecond')
             WHERE id = :old AND NOT EXISTS (SELECT FROM made) AND ${valid}
            RETURNING name, role, tenant, expires_at
          ), fresh AS (
            INSERT INTO holdfast.api_key (id, name, role, tenant, digest, created_at, expires_at)
            SELECT :id, name, role, tenant, :digest, clock_timestamp(), expires_at FROM old
            RETURNING id, name, role, tenant, created_at, expires_at, revoked_at
          )
          SELECT * FROM made UNION ALL SELECT * FROM fresh
          """,
          "valid",
          ApiKeys.IS_VALID);

  private RotateKey() {}

  /** The new key; empty when there is no such key, or it is not valid any more. */
  public static Optional<ApiKey> rotate(
      Connection connection, String old, String id, String digest, Duration overlap)
      throws SQLException {
    return SQL.on(connection)
        .set("id", id)
        .set("digest", digest)
        .set("overlap", overlap)
        .set("old", old)
        .first(ApiKeys::read);
  }
}
