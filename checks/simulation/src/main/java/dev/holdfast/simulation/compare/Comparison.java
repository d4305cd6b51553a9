package dev.holdfast.simulation.compare;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import dev.holdfast.simulation.trace.Call;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Makes the same calls on the model and on PostgreSQL, and compares answer by answer and, now and
 * then, row by row. Claims are made in batches as soon as they may be.
 */
public final class Comparison implements AutoCloseable {
  private static final int ROWS_EVERY = 16;
  private static final int LINES = 30;

  private static final String DEADLOCKS =
      """
      SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()
      """;

  private static final String WAITING =
      """
      SELECT count(*) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'
      """;

  private final TestDatabase database = TestDatabase.fresh();

  public Comparison() {
    ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger("dev.holdfast")).setLevel(Level.OFF);
    // The pool is opened after the clock is there: its connections must all see it.
    VirtualClock.prepare(database);
  }

  /** What differs first, with the calls before it; null when nothing does. */
  public @Nullable String differs(List<Call> calls) {
    long[] now = {0};
    ModelQueue model = new ModelQueue(new PlainCodec(), () -> now[0]);
    try (PostgresQueue postgres = open()) {
      postgres.empty();
      List<String> before = new ArrayList<>();
      for (int i = 0; i < calls.size(); i++) {
        Call call = calls.get(i);
        now[0] = call.micros();
        postgres.time(call.micros());
        Verb<?> verb = VerbText.verb(call);
        String expected = VerbText.of(answer(model, verb));
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

  /** The answer of the model, or its refusal. */
  static Object answer(ModelQueue model, Verb<?> verb) {
    try {
      return model.answer(verb);
    } catch (RefusedException refused) {
      return refused;
    }
  }

  PostgresQueue open() {
    return new PostgresQueue(database);
  }

  Connection connection() {
    return database.connection();
  }

  /** How often the server had to end a statement because two waited for each other. */
  long deadlocks() {
    return database.count(DEADLOCKS);
  }

  /** How many statements wait for a lock. */
  long waiting() {
    return database.count(WAITING);
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

  @Override
  public void close() {
    database.close();
  }
}
