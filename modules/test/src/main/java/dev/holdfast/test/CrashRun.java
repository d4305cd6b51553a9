package dev.holdfast.test;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.test.CrashingSource.Boundary;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** One run of a job to its end, by a worker that may die once, and others after it. */
final class CrashRun {
  private static final int MOST_ROUNDS = 10_000;
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Sorts of waits that end by somebody's answer. */
  private static final Set<String> ASKING = Set.of("SIGNAL", "APPROVAL");

  private static final String OPEN_WAIT =
      "SELECT wait_sort, wait ->> 'id' FROM holdfast.job WHERE id = ? AND wait_sort IS NOT NULL";
  private static final String CHILDREN_RUN =
      "SELECT '', '' FROM holdfast.job WHERE parent_id = ? AND finished_at IS NULL LIMIT 1";
  private static final String KINDS =
      """
      SELECT kind, count(*)::text FROM holdfast.job
       WHERE created_at >= (SELECT created_at FROM holdfast.job WHERE id = ?) GROUP BY kind
      """;

  private final Holdfast holdfast;
  private final TestTime time;
  private final JobId id;
  private @Nullable CrashingSource source;
  private final Map<String, String> facts = new LinkedHashMap<>();
  private final Map<String, Long> counts = new TreeMap<>();
  private final Map<String, String> written = new LinkedHashMap<>();
  private final Set<String> answered = new HashSet<>();
  private final @Nullable Boundary boundary;
  private boolean recovered;

  private CrashRun(Holdfast holdfast, JobId id, @Nullable Boundary boundary) {
    this.holdfast = holdfast;
    this.time = TestTime.of(holdfast);
    this.id = id;
    this.boundary = boundary;
  }

  static CrashRun of(
      Holdfast holdfast,
      WorkerBuilder worker,
      Job job,
      Map<String, LongSupplier> effects,
      BiConsumer<JobId, String> answers,
      @Nullable Boundary boundary) {
    CrashRun run = new CrashRun(holdfast, JobId.next(), boundary);
    Map<String, Long> before = new TreeMap<>();
    effects.forEach((name, count) -> before.put(name, count.getAsLong()));
    Enqueued enqueued = holdfast.enqueue(job.id(run.id));
    if (enqueued.duplicate()) {
      throw new IllegalStateException(
          "'%s' is not enqueued again: job %s has its unique key"
              .formatted(job.kind(), enqueued.id()));
    }
    run.toItsEnd(worker, answers);
    run.keep();
    effects.forEach(
        (name, count) ->
            run.counts.put(
                "'" + name + "'", count.getAsLong() - Objects.requireNonNull(before.get(name))));
    return run;
  }

  // ---- the run

  private void toItsEnd(WorkerBuilder worker, BiConsumer<JobId, String> answers) {
    long idleSince = System.nanoTime();
    for (int round = 0; round < MOST_ROUNDS; round++) {
      drain(worker);
      if (recover()) {
        continue;
      }
      JobStatus now = status();
      if (now.state().isTerminal()) {
        return;
      }
      if (goesOn(now, answers)) {
        idleSince = System.nanoTime();
      } else if (asksInVain() || System.nanoTime() - idleSince > IDLE_NANOS) {
        break;
      } else {
        // A job may be becoming due just now.
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    throw doesNotEnd(status());
  }

  private AssertionError doesNotEnd(JobStatus left) {
    return new AssertionError(
        "job %s does not end%s: it is %s%s"
            .formatted(
                id,
                boundary == null ? "" : " when its worker dies " + boundary,
                left.state(),
                ask(OPEN_WAIT).entrySet().stream()
                    .map(wait -> ", and waits for '" + wait.getValue() + "'")
                    .reduce("", String::concat)));
  }

  private JobStatus status() {
    return holdfast.find(id).orElseThrow();
  }

  private void drain(WorkerBuilder worker) {
    Boundary last = recovered ? null : boundary;
    List<Boundary> before = reached();
    worker.drain(
        real -> {
          CrashingSource between = new CrashingSource(real, id, last, before);
          source = between;
          return between;
        });
  }

  /** What was committed before, and what the worker held when it died. */
  private boolean recover() {
    CrashingSource crashed = source;
    if (recovered || crashed == null || !crashed.isDead()) {
      return false;
    }
    recovered = true;
    crashed
        .workers()
        .forEach(name -> holdfast.store().workers().recovery().recover("", name, "it was killed"));
    holdfast.queries().steps(id).stream()
        .filter(StepStatus::isDone)
        .forEach(step -> written.put(named(step), value(step)));
    return true;
  }

  /** Does what the job waits for; false when that is done elsewhere, just now. */
  private boolean goesOn(JobStatus now, BiConsumer<JobId, String> answers) {
    if (now.state() == JobState.WAITING) {
      for (Map.Entry<String, String> wait : ask(OPEN_WAIT).entrySet()) {
        if (ASKING.contains(wait.getKey()) && answered.add(wait.getValue())) {
          answers.accept(id, wait.getValue());
          return true;
        }
        if (wait.getKey().equals("CHILDREN") && ask(CHILDREN_RUN).isEmpty()) {
          return holdfast.store().maintenance().promote() > 0;
        }
      }
    }
    boolean isDue =
        now.state() == JobState.PENDING && !now.runAt().isAfter(holdfast.queries().now());
    return !isDue && status().state() == now.state() && time.passToNextJob();
  }

  /** Nobody has answered, and no time is set. */
  private boolean asksInVain() {
    return ASKING.containsAll(ask(OPEN_WAIT).keySet()) && !ask(OPEN_WAIT).isEmpty();
  }

  // ---- what it came to

  private void keep() {
    JobStatus end = status();
    facts.put("its state", end.state().name());
    facts.put("its result", String.valueOf(end.result()));
    Failure failure = end.failure();
    if (failure != null && end.state() == JobState.FAILED) {
      facts.put("its failure", failure.code() + ": " + failure.message());
    }
    holdfast.queries().steps(id).forEach(step -> facts.put(named(step), value(step)));
    ask(KINDS)
        .forEach((kind, many) -> counts.put("jobs of kind '" + kind + "'", Long.valueOf(many)));
  }

  private static String named(StepStatus step) {
    WaitEnd wait = step.waitEnd();
    return wait == null
        ? "the result of step '" + step.id() + "'"
        : "the end of the wait '" + step.id() + "'";
  }

  private static String value(StepStatus step) {
    WaitEnd wait = step.waitEnd();
    String checkpoint = String.valueOf(step.checkpoint());
    return wait == null
        ? (step.isDone() ? checkpoint : step.state().name())
        : wait.outcome()
            + (wait.jobs() == null ? "" : " " + wait.jobs())
            + (step.checkpoint() == null ? "" : " " + checkpoint);
  }

  Map<String, String> facts() {
    return facts;
  }

  Map<String, Long> counts() {
    return counts;
  }

  List<Boundary> reached() {
    CrashingSource reaching = source;
    return reaching == null ? List.of() : reaching.reached();
  }

  /**
   * Of this run, which had a crash, from one without.
   *
   * @param varying what differs without a crash as well
   */
  List<String> differences(CrashRun undisturbed, Set<String> varying) {
    List<String> wrong = new ArrayList<>();
    if (!recovered) {
      wrong.add("this moment did not come again: the job does not do the same in every run");
    }
    Map<String, String> all = new LinkedHashMap<>(undisturbed.facts);
    facts.forEach(all::putIfAbsent);
    for (String fact : all.keySet()) {
      String before = undisturbed.facts.getOrDefault(fact, "nothing");
      String found = facts.getOrDefault(fact, "nothing");
      boolean inBoth = undisturbed.facts.containsKey(fact) && facts.containsKey(fact);
      if (!found.equals(before) && !(inBoth && varying.contains(fact))) {
        wrong.add("%s is %s instead of %s".formatted(fact, found, before));
      }
    }
    written.forEach(
        (fact, value) -> {
          if (!value.equals(facts.get(fact))) {
            wrong.add("%s was %s before, and is %s".formatted(fact, value, facts.get(fact)));
          }
        });
    if (boundary != null && !boundary.repeatsAStep()) {
      Map<String, Long> counted = new TreeMap<>(undisturbed.counts);
      counts.forEach(counted::putIfAbsent);
      for (String name : counted.keySet()) {
        long before = undisturbed.counts.getOrDefault(name, 0L);
        long found = counts.getOrDefault(name, 0L);
        if (found != before) {
          wrong.add(
              "%s: %d instead of %d, so something outside of a step is done again"
                  .formatted(name, found, before));
        }
      }
    }
    return wrong;
  }

  /** The first two columns. */
  private Map<String, String> ask(String sql) {
    try (Connection connection = holdfast.dataSource().getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, id.value());
      Map<String, String> found = new TreeMap<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          found.put(rows.getString(1), rows.getString(2));
        }
      }
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return found;
    } catch (SQLException e) {
      throw new IllegalStateException("the job could not be read", e);
    }
  }
}
