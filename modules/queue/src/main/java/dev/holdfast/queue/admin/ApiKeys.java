package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Who may come in. */
public final class ApiKeys {
  private static final String COLUMNS =
      "SELECT id, name, role, tenant, digest, created_at, expires_at, revoked_at FROM holdfast.api_key";

  private static final String CREATE =
      """
      INSERT INTO holdfast.api_key AS api_key (id, name, role, tenant, digest, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, clock_timestamp(), clock_timestamp() + ? * interval '1 millisecond')
      -- Run again because its answer was lost, it finds its own row.
      ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE api_key.digest = excluded.digest
      """;

  private static final String REVOKE =
      """
      UPDATE holdfast.api_key
         SET revoked_at = least(revoked_at, clock_timestamp() + ? * interval '1 millisecond')
       WHERE id = ? AND (revoked_at IS NULL OR revoked_at > clock_timestamp())
      """;

  private static final String VALID =
      COLUMNS
          + """
             WHERE id = ? AND (revoked_at IS NULL OR revoked_at > clock_timestamp())
               AND (expires_at IS NULL OR expires_at > clock_timestamp())
            """;

  private static final String ANY =
      """
      SELECT EXISTS (
        SELECT FROM holdfast.api_key
         WHERE (revoked_at IS NULL OR revoked_at > clock_timestamp())
           AND (expires_at IS NULL OR expires_at > clock_timestamp())) AS found
      """;

  private ApiKeys() {}

  public static boolean create(
      Connection connection,
      String id,
      String name,
      Role role,
      String tenant,
      String digest,
      @Nullable Duration lifetime)
      throws SQLException {
    return Rows.update(connection, CREATE, id, name, role.word(), tenant, digest, lifetime) == 1;
  }

  /** Opens nothing any more, once the time is over. */
  public static boolean revoke(Connection connection, String id, Duration after)
      throws SQLException {
    return Rows.update(connection, REVOKE, after, id) == 1;
  }

  public static List<ApiKey> list(Connection connection) throws SQLException {
    return Rows.list(connection, ApiKeys::read, COLUMNS + " ORDER BY created_at, id");
  }

  public static Optional<KnownKey> valid(Connection connection, String id) throws SQLException {
    return Rows.list(connection, row -> new KnownKey(read(row), row.getString("digest")), VALID, id)
        .stream()
        .findFirst();
  }

  public static boolean any(Connection connection) throws SQLException {
    return Rows.list(connection, row -> row.getBoolean("found"), ANY).getFirst();
  }

  static ApiKey read(ResultSet row) throws SQLException {
    return new ApiKey(
        row.getString("id"),
        row.getString("name"),
        Role.of(row.getString("role")),
        row.getString("tenant"),
        Rows.instant(row, "created_at"),
        Rows.instantOrNull(row, "expires_at"),
        Rows.instantOrNull(row, "revoked_at"));
  }
}
