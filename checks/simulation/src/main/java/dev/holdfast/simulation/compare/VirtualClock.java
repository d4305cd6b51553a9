package dev.holdfast.simulation.compare;

import dev.holdfast.testkit.TestDatabase;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/**
 * Virtual time in PostgreSQL. Functions of a schema that comes before pg_catalog in the search path
 * are found first: the queue's statements read this clock, and are not changed for it.
 */
final class VirtualClock {
  static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private static final String SET_UP =
      """
      CREATE SCHEMA virtual;
      CREATE TABLE virtual.clock (at timestamptz NOT NULL, started_at timestamptz NOT NULL);
      INSERT INTO virtual.clock VALUES ('%1$s', '%1$s'::timestamptz - interval '1 day');
      CREATE FUNCTION virtual.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT at FROM virtual.clock';
      CREATE FUNCTION virtual.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT at FROM virtual.clock';
      CREATE FUNCTION virtual.now() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT at FROM virtual.clock';
      CREATE FUNCTION virtual.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT started_at FROM virtual.clock';
      CREATE FUNCTION virtual.micros(timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE
        AS 'SELECT (extract(epoch FROM $1 - ''%1$s''::timestamptz) * 1000000)::bigint';
      DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %%I SET search_path = virtual, pg_catalog, public',
                       current_database());
        -- Few rows must be found as many are: by their ids, one after the other.
        EXECUTE format('ALTER DATABASE %%I SET enable_seqscan = off', current_database());
        EXECUTE format('ALTER DATABASE %%I SET enable_hashjoin = off', current_database());
        EXECUTE format('ALTER DATABASE %%I SET enable_mergejoin = off', current_database());
        EXECUTE format('ALTER DATABASE %%I SET deadlock_timeout = ''50ms''', current_database());
      END $$;
      """
          .formatted(BEGIN);

  private VirtualClock() {}

  /** For connections that are opened after this. */
  static void prepare(TestDatabase database) {
    database.sql(SET_UP);
  }

  /** As an argument of a statement. */
  static OffsetDateTime at(long micros) {
    return moment(micros).atOffset(ZoneOffset.UTC);
  }

  static Instant moment(long micros) {
    return BEGIN.plusNanos(micros * 1_000);
  }
}
