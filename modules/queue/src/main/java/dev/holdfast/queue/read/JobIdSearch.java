package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Finds jobs by a part of their ids, so that nobody has to type 36 characters. */
public final class JobIdSearch {
  /** Of the newest jobs, so many have their ends compared; reading their index takes a moment. */
  static final int MOST_READ = 1_000_000;

  private static final String FIRST = "00000000-0000-0000-0000-000000000000";
  private static final String LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

  // A beginning is a range of the primary key. No index knows the ends, so these are looked for in
  // the newest jobs; the limit inside is what keeps that bounded.
  private static final Sql SQL =
      Sql.of(
          """
          WITH found AS MATERIALIZED (
            (SELECT id FROM holdfast.job
              WHERE id BETWEEN :first::uuid AND :last::uuid
              ORDER BY id DESC LIMIT :some)
            UNION
            (SELECT id FROM (SELECT id FROM holdfast.job
                              ORDER BY created_at DESC, id DESC LIMIT :read) AS newest
              WHERE right(id::text, :length) = :part
              LIMIT :some)
          )
          SELECT j.id FROM holdfast.job j
           WHERE j.id = ANY (ARRAY(SELECT id FROM found)) AND ${tenant}
           ORDER BY j.created_at DESC, j.id DESC
           LIMIT :most
          """,
          "tenant",
          TenantSql.isOf("j"));

  // No index knows the tenants, so of one tenant not all that begin alike are looked at.
  private static final Sql ARE_MORE =
      Sql.of(
          """
          SELECT id FROM holdfast.job
           WHERE id BETWEEN :first::uuid AND :last::uuid
           ORDER BY id DESC LIMIT 1 OFFSET :some
          """);

  /** So many ids with the same beginning are compared. */
  static final int SOME = 10_000;

  private JobIdSearch() {}

  /**
   * @param part as {@link JobIdMatches#part} returns it
   */
  public static JobIdMatches of(Connection connection, Tenant tenant, String part)
      throws SQLException {
    boolean begins = hasItsDashes(part);
    // Where no id can begin like this, the range is empty.
    String first = begins ? part + FIRST.substring(part.length()) : LAST;
    String last = begins ? part + LAST.substring(part.length()) : FIRST;
    List<JobId> ids =
        SQL.on(connection)
            .tenant(tenant)
            .set("first", first)
            .set("last", last)
            .set("part", part)
            .set("length", part.length())
            .set("read", MOST_READ)
            .set("some", SOME)
            .set("most", JobIdMatches.MOST)
            .list(row -> Rows.id(row, "id"));
    // One match is taken for the job that is meant, so it must be the only one.
    if (ids.size() < 2
        && ARE_MORE
            .on(connection)
            .set("first", first)
            .set("last", last)
            .set("some", SOME)
            .found()) {
      throw new RefusedException(
          Refusal.BAD_ID,
          "too many ids begin with '%s' to tell which is meant: give more of it, or its end"
              .formatted(part));
    }
    return new JobIdMatches(ids);
  }

  /** Whether its dashes are where the beginning of an id has them. */
  private static boolean hasItsDashes(String part) {
    for (int i = 0; i < part.length(); i++) {
      if ((part.charAt(i) == '-') != (FIRST.charAt(i) == '-')) {
        return false;
      }
    }
    return true;
  }
}
