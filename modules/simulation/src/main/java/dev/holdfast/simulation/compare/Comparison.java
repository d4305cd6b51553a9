package dev.holdfast.simulation.compare;

import ch.qos.logback.classic.Level;
import dev.holdfast.queue.JobStore;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import dev.holdfast.simulation.trace.Call;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Makes the same calls on the model and on PostgreSQL, and compares answer by answer and, now and
 * then, row by row. Claims are made in batches as soon as they may be.
 */
public final class Comparison implements AutoCloseable {
  private static final int ROWS_EVERY = 16;
  private static final int LINES = 30;

  private static final String EMPTY =
      """
      TRUNCATE holdfast.job, holdfast.claim, holdfast.queue, holdfast.event, holdfast.attempt,
               holdfast.step, holdfast.artifact CASCADE;
      UPDATE virtual.clock SET at = '%1$s', started_at = '%1$s'::timestamptz - interval '1 day'
      """
          .formatted(VirtualClock.BEGIN);

  private static final String DEADLOCKS =
      """
      SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()
      """;

  private static final String WAITING =
      """
      SELECT count(*) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'
      """;

  private final TestDatabase database;
  private final DataSource dataSource;
  private final VirtualClock clock;

  public Comparison() throws SQLException {
    ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger("dev.holdfast")).setLevel(Level.OFF);
    this.database = TestDatabase.fresh();
    // The pool is opened after the clock is there: its connections must all see it.
    try (Connection connection = database.connection()) {
      VirtualClock.prepare(connection);
    }
    this.dataSource = database.dataSource();
    this.clock = new VirtualClock(dataSource);
  }

  /** What differs first, with the calls before it; null when nothing does. */
  public @Nullable String differs(List<Call> calls) throws SQLException {
    long[] now = {0};
    ModelQueue model = new ModelQueue(new PlainCodec(), () -> now[0]);
    try (JobStore store = open()) {
      PostgresQueue postgres = postgres(store);
      empty();
      List<String> before = new ArrayList<>();
      for (int i = 0; i < calls.size(); i++) {
        Call call = calls.get(i);
        now[0] = call.micros();
        postgres.time(call.micros());
        Verb<?> verb = VerbText.verb(call);
        String expected = VerbText.of(model.answer(verb));
        String found = postgres.textOf(verb);
        before.add(call.toString());
        if (!expected.equals(found)) {
          String row = differingRow(model.rows(), postgres.rows());
          return shown(
              before,
              "the model answers:  " + expected,
              "PostgreSQL answers: " + found,
              row == null ? "the rows are the same" : row);
        }
        if (i % ROWS_EVERY == 0 || i == calls.size() - 1) {
          String row = differingRow(model.rows(), postgres.rows());
          if (row != null) {
            return shown(before, row);
          }
        }
      }
      return null;
    }
  }

  /**
   * A queue whose claims are in batches as soon as there is more than one. The model knows no
   * cursor: where claims cost no time, each of them is due for a full index scan.
   */
  JobStore open() {
    return new JobStore(
        dataSource, new PlainCodec(), JobStore.Options.DEFAULT.batchFrom(1).nanos(() -> 0));
  }

  PostgresQueue postgres(JobStore store) {
    return new PostgresQueue(store, dataSource, clock);
  }

  void empty() throws SQLException {
    execute(EMPTY);
  }

  Connection connection() throws SQLException {
    return dataSource.getConnection();
  }

  /** How often the server had to end a statement because two waited for each other. */
  long deadlocks() throws SQLException {
    return number(DEADLOCKS);
  }

  /** How many statements wait for a lock. */
  long waiting() throws SQLException {
    return number(WAITING);
  }

  private long number(String sql) throws SQLException {
    try (Connection connection = connection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private static @Nullable String differingRow(List<String> model, List<String> postgres) {
    for (int i = 0; i < Math.max(model.size(), postgres.size()); i++) {
      String expected = i < model.size() ? model.get(i) : "no row";
      String found = i < postgres.size() ? postgres.get(i) : "no row";
      if (!expected.equals(found)) {
        return "the model has:      " + expected + "\nPostgreSQL has:     " + found;
      }
    }
    return null;
  }

  private static String shown(List<String> before, String... differs) {
    List<String> last = before.subList(Math.max(0, before.size() - LINES), before.size());
    return String.join("\n", last) + "\n" + String.join("\n", differs);
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() {
    database.close();
  }
}
