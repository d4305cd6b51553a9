package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The columns in which an enqueue writes a job, each with its type and its value. */
enum JobColumn {
  ID("uuid", Use.STORED, EncodedJob::id),
  QUEUE("text", Use.COMPARED, each -> each.job().queue()),
  KIND("text", Use.COMPARED, each -> each.job().kind()),
  PRIORITY("int2", Use.COMPARED, each -> each.job().priority()),
  RUN_AT("timestamptz", Use.INPUT, each -> each.job().runAt()),
  DELAY_MS("int8", Use.INPUT, each -> each.job().delay()),
  MAX_ATTEMPTS("int4", Use.COMPARED, each -> each.job().maxAttempts()),
  MAX_CRASHES("int4", Use.COMPARED, each -> each.job().maxCrashes()),
  TIMEOUT_MS("int8", Use.COMPARED, each -> each.job().timeout()),
  DEADLINE("timestamptz", Use.STORED, each -> each.job().deadline()),
  UNIQUE_KEY("text", Use.COMPARED, EncodedJob::uniqueKey),
  UNIQUE_STATES("int2", Use.STORED, JobColumn::uniqueStates),
  UNIQUE_MS("int8", Use.INPUT, JobColumn::uniqueWindow),
  CONCURRENCY_KEY("text", Use.STORED, each -> each.job().concurrencyKey()),
  CONCURRENCY_LIMIT("int4", Use.STORED, JobColumn::concurrencyLimit),
  TENANT("text", Use.COMPARED, each -> each.job().tenant()),
  WORKSPACE("text", Use.COMPARED, each -> each.job().workspace()),
  RUN_ID("uuid", Use.COMPARED, each -> each.job().run()),
  RUN_KEY("text", Use.COMPARED, each -> each.job().runKey()),
  PARENT_ID("uuid", Use.COMPARED, each -> each.job().parent()),
  STARTED_AS("text", Use.COMPARED, each -> each.job().startedAs()),
  WHEN_DEPENDENCY_FAILS("text", Use.STORED, JobColumn::whenDependencyFails),
  ATTRIBUTES("jsonb", Use.STORED, EncodedJob::attributes),
  PAYLOAD("jsonb", Use.COMPARED, EncodedJob::payload);

  private enum Use {
    /** Stored, and must be the same in a job that is enqueued again under its id. */
    COMPARED,
    /** Stored. */
    STORED,
    /** Not stored as it is: the statement computes something from it. */
    INPUT
  }

  /** {@code unnest(…) AS n(…)}: all columns of all jobs, bound by {@link #bindAll}. */
  static final String INPUT_ROWS =
      "unnest(%s) AS n(%s)"
          .formatted(
              listed(each -> true, each -> ":" + each.column() + "::" + each.arrayType() + "[]"),
              listed(each -> true, JobColumn::column));

  /** The names of the columns that are stored. */
  static final String STORED_NAMES = listed(each -> each.use != Use.INPUT, JobColumn::column);

  /** The values of the same columns in {@link #INPUT_ROWS}. */
  static final String STORED_VALUES = listed(each -> each.use != Use.INPUT, JobColumn::input);

  /** Columns of the table {@code own} that must equal {@link #COMPARED_VALUES}. */
  static final String COMPARED_NAMES =
      listed(each -> each.use == Use.COMPARED, each -> "own." + each.column());

  static final String COMPARED_VALUES = listed(each -> each.use == Use.COMPARED, JobColumn::input);

  private static final Set<JobColumn> ALL = EnumSet.allOf(JobColumn.class);

  private final String column;
  private final String type;
  private final Use use;

  @SuppressWarnings("ImmutableEnumChecker") // The functions have no state.
  private final Function<EncodedJob, @Nullable Object> value;

  JobColumn(String type, Use use, Function<EncodedJob, @Nullable Object> value) {
    this.column = name().toLowerCase(Locale.ROOT);
    this.type = type;
    this.use = use;
    this.value = value;
  }

  /** Binds the parameters of {@link #INPUT_ROWS}. */
  static Sql.Call bindAll(Sql.Call call, List<EncodedJob> jobs) throws SQLException {
    return bind(call, jobs, ALL);
  }

  /** Binds an array for each of the columns, under the column's name. */
  static Sql.Call bind(Sql.Call call, List<EncodedJob> jobs, Set<JobColumn> columns)
      throws SQLException {
    for (JobColumn each : columns) {
      call.array(each.column, each.arrayType(), jobs, each.value);
    }
    return call;
  }

  private static String listed(Predicate<JobColumn> which, Function<JobColumn, String> text) {
    return Arrays.stream(values()).filter(which).map(text).collect(Collectors.joining(", "));
  }

  private String column() {
    return column;
  }

  private boolean isJson() {
    return type.equals("jsonb");
  }

  /** The driver writes arrays of JSON as arrays of text. */
  private String arrayType() {
    return isJson() ? "text" : type;
  }

  private String input() {
    return "n." + column() + (isJson() ? "::jsonb" : "");
  }

  private static int uniqueStates(EncodedJob each) {
    return each.job().unique() == null ? 0 : JobState.bits(each.job().unique().states());
  }

  private static @Nullable Object uniqueWindow(EncodedJob each) {
    return each.job().unique() == null ? null : each.job().unique().window();
  }

  private static @Nullable Object concurrencyLimit(EncodedJob each) {
    return each.job().concurrencyKey() == null ? null : each.job().concurrencyLimit();
  }

  private static @Nullable Object whenDependencyFails(EncodedJob each) {
    return each.job().dependsOn().isEmpty() ? null : each.job().whenDependencyFails().name();
  }
}
