package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Keys of the API: created, revoked and looked up. */
public final class ApiKeys {
  private static final String SELECT =
      """
      SELECT id, name, role, tenant, digest, created_at, expires_at, revoked_at FROM holdfast.api_key
      """;

  static final String IS_VALID =
      """
      (revoked_at IS NULL OR revoked_at > clock_timestamp())
        AND (expires_at IS NULL OR expires_at > clock_timestamp())
      """;

  private static final Sql CREATE =
      Sql.of(
          """
          INSERT INTO holdfast.api_key AS api_key
                 (id, name, role, tenant, digest, created_at, expires_at)
          VALUES (:id, :name, :role, :tenant, :digest, clock_timestamp(),
                  clock_timestamp() + :lifetime * interval '1 millisecond')
          -- Run again because its answer was lost, it finds its own row.
          ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE api_key.digest = excluded.digest
          """);

  private static final Sql REVOKE =
      Sql.of(
          """
          UPDATE holdfast.api_key
             SET revoked_at = least(revoked_at, clock_timestamp() + :after * interval '1 millisecond')
           WHERE id = :id AND (revoked_at IS NULL OR revoked_at > clock_timestamp())
          """);

  private static final Sql LIST = Sql.of(SELECT + "ORDER BY created_at, id");

  private static final Sql VALID =
      Sql.of(SELECT + "WHERE id = :id AND ${valid}", "valid", IS_VALID);

  private static final Sql ANY =
      Sql.of(
          "SELECT EXISTS (SELECT FROM holdfast.api_key WHERE ${valid}) AS found",
          "valid",
          IS_VALID);

  private ApiKeys() {}

  public static boolean create(
      Connection connection,
      String id,
      String name,
      Role role,
      @Nullable String tenant,
      String digest,
      @Nullable Duration lifetime)
      throws SQLException {
    return CREATE
            .on(connection)
            .set("id", id)
            .set("name", name)
            .set("role", role.word())
            .set("tenant", tenant)
            .set("digest", digest)
            .set("lifetime", lifetime)
            .update()
        == 1;
  }

  /** Opens nothing any more, once the time is over. */
  public static boolean revoke(Connection connection, String id, Duration after)
      throws SQLException {
    return REVOKE.on(connection).set("after", after).set("id", id).update() == 1;
  }

  public static List<ApiKey> list(Connection connection) throws SQLException {
    return LIST.on(connection).list(ApiKeys::read);
  }

  public static Optional<KnownKey> valid(Connection connection, String id) throws SQLException {
    return VALID
        .on(connection)
        .set("id", id)
        .first(row -> new KnownKey(read(row), row.getString("digest")));
  }

  public static boolean any(Connection connection) throws SQLException {
    return ANY.on(connection).only(row -> row.getBoolean("found"));
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
