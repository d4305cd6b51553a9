package dev.holdfast.chaos.check;

import static java.util.Objects.requireNonNull;

import dev.holdfast.Holdfast;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.load.Chains;
import dev.holdfast.chaos.load.Ledger;
import dev.holdfast.chaos.load.Load;
import dev.holdfast.chaos.load.Secrets;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/** What must hold when all jobs have ended: from the database, the clients and the handlers. */
public final class Checker {
  /** A job whose only failure costs no budget. */
  private static final String IS_DOOMED = "kind = 'doomed'";

  /** A job of a chain that goes on as another one. */
  private static final String HAS_NEXT_TURN =
      "kind = 'chain' AND (payload ->> 'number')::int < " + Chains.LAST;

  /** Rules that one statement answers: what it finds breaks the rule. */
  private static final Map<String, String> STATEMENTS =
      Map.ofEntries(
          Map.entry(
              "every job has ended",
              "SELECT id || ' is ' || state FROM holdfast.job WHERE finished_at IS NULL"),
          Map.entry(
              "no attempt runs twice",
              "SELECT job || '#' || attempt || ' ran ' || count(*) || ' times' FROM chaos.ran"
                  + " GROUP BY job, attempt HAVING count(*) > 1"),
          Map.entry(
              "no handler ran under an attempt that was never handed out",
              "SELECT r.job || '#' || r.attempt FROM chaos.ran AS r JOIN holdfast.job AS j"
                  + " ON j.id = r.job WHERE r.attempt > j.attempt"),
          Map.entry(
              "a result is of the attempt that holds the job",
              "SELECT id || '#' || attempt || ' has the result of ' || coalesce(result ->> 'attempt', 'none')"
                  + " FROM holdfast.job WHERE state = 'SUCCEEDED' AND kind <> 'workspace'"
                  + " AND NOT ("
                  + HAS_NEXT_TURN
                  + ")"
                  + " AND (result ->> 'attempt')::int IS DISTINCT FROM attempt"),
          Map.entry(
              "a job that succeeded in its own transaction has its effect once",
              "SELECT j.id || ' has ' || count(e.job) || ' effects' FROM holdfast.job AS j"
                  + " LEFT JOIN chaos.effect AS e ON e.job = j.id WHERE j.kind = 'effect'"
                  + " AND j.state = 'SUCCEEDED' GROUP BY j.id HAVING count(e.job) <> 1"),
          Map.entry(
              "a job that did not succeed has no effect",
              "SELECT j.id || ' is ' || j.state FROM chaos.effect AS e JOIN holdfast.job AS j"
                  + " ON j.id = e.job WHERE j.state <> 'SUCCEEDED'"),
          Map.entry(
              "an effect is of the attempt that holds the job",
              "SELECT e.job || '#' || e.attempt FROM chaos.effect AS e JOIN holdfast.job AS j"
                  + " ON j.id = e.job WHERE j.attempt <> e.attempt"),
          Map.entry(
              "steps are done once each and all of them",
              "SELECT id || ' has ' || (result ->> 'sum') FROM holdfast.job WHERE kind = 'steps'"
                  + " AND state = 'SUCCEEDED' AND (result ->> 'sum')::int <> 3"),
          Map.entry(
              "a signal is taken by one wait, and a wait takes one",
              "SELECT id || ' took ' || (result ->> 'one') || ' twice' FROM holdfast.job"
                  + " WHERE kind = 'waiting' AND state = 'SUCCEEDED'"
                  + " AND result ->> 'one' = result ->> 'two' AND result ->> 'one' <> '0'"
                  + " UNION ALL SELECT m.job_id || ' ' || m.taken_by || ' took ' || count(*)"
                  + " FROM holdfast.signal AS m WHERE m.taken_by IS NOT NULL"
                  + " GROUP BY m.job_id, m.taken_by HAVING count(*) > 1"),
          Map.entry(
              "a signal that is taken is what its wait has brought",
              "SELECT m.job_id || ' lost signal ' || m.number FROM holdfast.signal AS m"
                  + " LEFT JOIN holdfast.step AS s ON s.job_id = m.job_id"
                  + " AND s.step_id = m.taken_by AND s.checkpoint = m.payload"
                  + " WHERE m.taken_by IS NOT NULL AND s.job_id IS NULL"),
          Map.entry(
              "a job that sleeps is not woken early",
              "SELECT s.job_id || ' slept ' || (s.finished_at - s.started_at)"
                  + " FROM holdfast.step AS s JOIN holdfast.job AS j ON j.id = s.job_id"
                  + " WHERE j.kind = 'waiting' AND s.step_id = 'nap' AND s.state = 'DONE'"
                  + " AND s.finished_at < s.started_at"
                  + " + (j.payload ->> 'millis')::int * interval '1 millisecond'"),
          Map.entry(
              "a wait for jobs ends after all of them, and each was started once",
              "SELECT j.id || ' joined ' || coalesce(j.result ->> 'joined', 'none') || ' of '"
                  + " || count(c.id) FROM holdfast.job AS j LEFT JOIN holdfast.step AS s"
                  + " ON s.job_id = j.id AND s.step_id = 'all' LEFT JOIN holdfast.job AS c"
                  + " ON c.parent_id = j.id WHERE j.kind = 'waiting' AND j.state = 'SUCCEEDED'"
                  + " GROUP BY j.id HAVING count(c.id) <> 2 OR j.result ->> 'joined' <> '2'"
                  + " OR bool_or(c.finished_at IS NULL OR s.finished_at < c.finished_at)"),
          Map.entry(
              "a job that has ended waits for nothing",
              "SELECT id || ' waits for ' || wait_sort FROM holdfast.job"
                  + " WHERE wait_sort IS NOT NULL AND state <> 'WAITING'"),
          Map.entry(
              "a workspace has the change of each step once",
              "SELECT j.id || ' has tree ' || coalesce(j.result ->> 'tree', 'none') || ' of '"
                  + " || count(s.step_id) || ' steps' FROM holdfast.job AS j"
                  + " LEFT JOIN holdfast.step AS s ON s.job_id = j.id AND s.state = 'DONE'"
                  + " WHERE j.kind = 'workspace' AND j.state = 'SUCCEEDED' GROUP BY j.id"
                  + " HAVING count(s.step_id) <> 3 OR j.result ->> 'tree'"
                  + " IS DISTINCT FROM (SELECT tree FROM chaos.workspace)"),
          Map.entry(
              "no job starts before what it waits for has ended",
              "SELECT j.id::text FROM holdfast.dependency AS d JOIN holdfast.job AS j"
                  + " ON j.id = d.job_id JOIN holdfast.job AS o ON o.id = d.depends_on_id"
                  + " JOIN chaos.ran AS r ON r.job = j.id WHERE r.at < o.finished_at"),
          Map.entry(
              "no write is refused to the attempt that holds the job",
              "SELECT r.write || ' of ' || r.job || '#' || r.attempt FROM chaos.refused AS r"
                  + " JOIN holdfast.job AS j ON j.id = r.job"
                  + " WHERE j.attempt = r.attempt AND j.state = 'SUCCEEDED'"),
          Map.entry(
              "no job fails: nothing but faults stops it",
              "SELECT id || ': ' || failure FROM holdfast.job WHERE state = 'FAILED'"
                  + " AND NOT "
                  + IS_DOOMED),
          Map.entry(
              "a wait is over once",
              "SELECT job_id || ' was woken ' || count(*) || ' times for ' || (data ->> 'waitId')"
                  + " FROM holdfast.event WHERE type = 'resumed' GROUP BY job_id, data ->> 'waitId'"
                  + " HAVING count(*) > 1"),
          Map.entry(
              "a wait for any job ends with a job that has ended",
              "SELECT j.id || ' went on after ' || coalesce(s.ended ->> 'job', 'none')"
                  + " FROM holdfast.job AS j LEFT JOIN holdfast.step AS s"
                  + " ON s.job_id = j.id AND s.step_id = 'first' LEFT JOIN holdfast.job AS c"
                  + " ON c.parent_id = j.id AND c.id::text = s.ended ->> 'job'"
                  + " WHERE j.kind = 'choosing' AND j.state = 'SUCCEEDED' AND (c.finished_at IS NULL"
                  + " OR c.finished_at > s.finished_at OR j.result ->> 'first' <> c.id::text"
                  + " OR j.result ->> 'state' <> c.state)"),
          Map.entry(
              "a job that fails ends the wait for it, and the others are cancelled",
              "SELECT j.id || ' got ' || coalesce(j.result ->> 'failed', 'none') || ', ' || c.id"
                  + " || ' is ' || c.state FROM holdfast.job AS j JOIN holdfast.job AS c"
                  + " ON c.parent_id = j.id WHERE j.kind = 'daring' AND j.state = 'SUCCEEDED'"
                  + " AND (c.finished_at IS NULL OR c.kind = 'doomed'"
                  + " AND (c.state <> 'FAILED' OR j.result ->> 'failed' <> c.id::text)"
                  + " OR c.kind <> 'doomed' AND c.state NOT IN ('SUCCEEDED', 'CANCELLED'))"),
          Map.entry(
              "a chain of jobs has each turn once, and none is missing",
              "SELECT t.id || ' is turn ' || (t.payload ->> 'number') || ', followed by '"
                  + " || count(n.id) FROM holdfast.job AS t LEFT JOIN holdfast.job AS n"
                  + " ON n.run_id = t.run_id AND n.kind = t.kind AND (n.payload ->> 'number')::int"
                  + " = (t.payload ->> 'number')::int + 1"
                  + " WHERE t.kind = 'chain' AND t.finished_at IS NOT NULL GROUP BY t.id"
                  + " HAVING count(n.id) <> (t.state = 'SUCCEEDED'"
                  + " AND (t.payload ->> 'number')::int < "
                  + Chains.LAST
                  + ")::int"),
          Map.entry(
              "what a turn of a chain has is handed on to the next",
              "SELECT n.id || ' has ' || n.payload || ' and ' || coalesce(n.unique_key, 'no key')"
                  + " FROM holdfast.job AS n LEFT JOIN holdfast.job AS t ON t.run_id = n.run_id"
                  + " AND t.kind = n.kind AND (t.payload ->> 'number')::int"
                  + " = (n.payload ->> 'number')::int - 1 WHERE n.kind = 'chain'"
                  + " AND (n.payload ->> 'number')::int > 0 AND (t.id IS NULL"
                  + " OR t.finished_at > n.started_at"
                  + " OR n.unique_key IS DISTINCT FROM t.unique_key"
                  + " OR (n.payload ->> 'sum')::int IS DISTINCT FROM (t.payload ->> 'sum')::int"
                  + " + (t.payload ->> 'number')::int)"),
          Map.entry(
              "a signal to a chain of jobs goes on with it",
              "SELECT job_id || ' kept signal ' || number FROM holdfast.signal WHERE taken_by IS NULL"
                  + " AND job_id IN (SELECT id FROM holdfast.job WHERE state = 'SUCCEEDED' AND "
                  + HAS_NEXT_TURN
                  + ")"),
          Map.entry(
              "an attempt ends once, and is counted once",
              "SELECT j.id || ' counts ' || j.failures || '+' || j.crashes || ', ended '"
                  + " || count(a.job_id) FROM holdfast.job AS j LEFT JOIN holdfast.attempt AS a"
                  + " ON a.job_id = j.id AND a.outcome IN ('FAILED', 'CRASHED')"
                  + " GROUP BY j.id HAVING j.failures + j.crashes + (j.state = 'FAILED' AND j."
                  + IS_DOOMED
                  + ")::int <> count(a.job_id)"),
          Map.entry(
              "an artifact is of the attempt that holds the job, and there",
              "SELECT j.id::text FROM holdfast.job AS j LEFT JOIN holdfast.artifact AS a"
                  + " ON a.job_id = j.id WHERE j.kind = 'artifact' AND j.state = 'SUCCEEDED'"
                  + " AND (a.job_id IS NULL OR a.attempt > j.attempt)"),
          Map.entry(
              "a schedule makes one job for each of its times",
              "SELECT s.name || ' made ' || count(j.id) || ' jobs for ' || s.times || ' times'"
                  + " FROM (SELECT name, kind, 1 + round(extract(epoch FROM last_fired_at"
                  + " - (SELECT first FROM chaos.first_tick WHERE schedule = name)))::int AS times"
                  + " FROM holdfast.schedule) AS s LEFT JOIN holdfast.job AS j ON j.kind = s.kind"
                  + " GROUP BY s.name, s.times HAVING count(j.id) <> s.times"),
          // A claim's time is that of its statement, which may see what ended a moment later.
          Map.entry(
              "an attempt begins after the one before it has ended",
              "SELECT b.job || '#' || b.attempt FROM (SELECT job_id AS job, attempt, started_at"
                  + " FROM holdfast.attempt UNION ALL SELECT id, attempt, started_at"
                  + " FROM holdfast.job WHERE state = 'SUCCEEDED') AS b"
                  + " JOIN holdfast.attempt AS a ON a.job_id = b.job AND a.attempt = b.attempt - 1"
                  + " WHERE b.started_at < a.ended_at - interval '1 second'"),
          Map.entry(
              "each attempt has one end",
              "SELECT j.id || ' had ' || j.attempt || ' attempts, ended '"
                  + " || count(a.job_id) + (j.state = 'SUCCEEDED')::int FROM holdfast.job AS j"
                  + " LEFT JOIN holdfast.attempt AS a ON a.job_id = j.id"
                  + " WHERE j.finished_at IS NOT NULL GROUP BY j.id"
                  + " HAVING count(a.job_id) + (j.state = 'SUCCEEDED')::int <> j.attempt"),
          Map.entry(
              "no connection, transaction or lock is left",
              "SELECT 'backend ' || pid || ': ' || state || ' ' || left(query, 80)"
                  + " FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
                  + " OR application_name = 'holdfast'"
                  + " UNION ALL SELECT 'lock ' || locktype FROM pg_locks"
                  + " WHERE locktype = 'advisory'"));

  private final Database database;
  private final Holdfast holdfast;
  private final Ledger ledger;
  private final List<String> printed;

  /**
   * @param printed by the processes of the program
   */
  public Checker(Database database, Holdfast holdfast, Ledger ledger, List<String> printed) {
    this.printed = List.copyOf(printed);
    this.database = database;
    this.holdfast = holdfast;
    this.ledger = ledger;
  }

  public List<Finding> all() throws SQLException {
    List<Finding> findings = new ArrayList<>();
    findings.add(acknowledged());
    findings.add(unasked());
    findings.add(cancels());
    findings.add(decisions());
    findings.add(uniqueKeys());
    findings.addAll(new Timelines(database, holdfast).all());
    findings.add(secrets());
    for (String rule : new TreeSet<>(STATEMENTS.keySet())) {
      findings.add(statement(rule));
    }
    return findings;
  }

  /** A rule that one statement answers. */
  Finding statement(String rule) throws SQLException {
    return new Finding(
        rule,
        database.count("SELECT count(*) FROM holdfast.job"),
        database.texts(requireNonNull(STATEMENTS.get(rule), rule)));
  }

  Finding acknowledged() throws SQLException {
    Set<UUID> missing =
        ledger.acknowledged().stream().map(JobId::value).collect(Collectors.toSet());
    int promised = missing.size();
    database.ids("SELECT id FROM holdfast.job").forEach(missing::remove);
    return new Finding(
        "every acknowledged job is there", promised, missing.stream().map(UUID::toString).toList());
  }

  Finding unasked() throws SQLException {
    Set<UUID> there =
        new HashSet<>(
            database.ids(
                "SELECT id FROM holdfast.job WHERE started_as IS NULL AND kind <> '"
                    + Load.TICK
                    + "' AND NOT (kind = '"
                    + Chains.KIND
                    + "' AND payload ->> 'number' <> '0')"));
    int all = there.size();
    ledger.acknowledged().forEach(job -> there.remove(job.value()));
    ledger.unanswered().forEach(job -> there.remove(job.value()));
    return new Finding(
        "no job is there that nobody asked for", all, there.stream().map(UUID::toString).toList());
  }

  /** Whoever was new under a key came after the one before it had ended. */
  Finding uniqueKeys() throws SQLException {
    Map<UUID, String> ended =
        database.byId(
            "SELECT id, extract(epoch FROM finished_at) FROM holdfast.job"
                + " WHERE unique_key IS NOT NULL AND finished_at IS NOT NULL");
    List<String> wrong = new ArrayList<>();
    int looked = 0;
    for (Map.Entry<String, List<Ledger.Held>> key : ledger.uniqueKeys().entrySet()) {
      List<Ledger.Held> held = key.getValue();
      for (int i = 1; i < held.size(); i++) {
        looked++;
        UUID before = held.get(i - 1).job().value();
        String end = ended.get(before);
        // In whole milliseconds, rounded up.
        double told = (held.get(i).told().toEpochMilli() + 1) / 1_000.0;
        if (end == null || Double.parseDouble(end) > told) {
          wrong.add(
              key.getKey() + ": " + held.get(i).job() + " was new while " + before + " held it");
        }
      }
    }
    return new Finding("one unfinished job at most holds a unique key", looked, wrong);
  }

  Finding cancels() throws SQLException {
    Set<UUID> cancelled =
        new HashSet<>(database.ids("SELECT id FROM holdfast.job WHERE state = 'CANCELLED'"));
    List<String> wrong =
        ledger.cancels().stream()
            .filter(cancel -> cancel.outcome() == Cancellation.Outcome.CANCELLED)
            .filter(cancel -> !cancelled.contains(cancel.job().value()))
            .map(cancel -> cancel.job() + " was answered CANCELLED")
            .toList();
    return new Finding("a cancel is answered truthfully", ledger.cancels().size(), wrong);
  }

  /** And the wait has brought what was decided. */
  Finding decisions() throws SQLException {
    Map<UUID, String> brought =
        database.byId(
            "SELECT job_id, ended ->> 'outcome' FROM holdfast.step"
                + " WHERE ended ->> 'sort' = 'APPROVAL' AND ended ->> 'by' IS NOT NULL");
    List<String> wrong = new ArrayList<>();
    ledger
        .decisions()
        .forEach(
            (job, decisions) -> {
              String expected = decisions.getFirst().approved() ? "APPROVED" : "REJECTED";
              String found = brought.get(job.value());
              if (decisions.size() > 1 || !expected.equals(found)) {
                wrong.add(job + " was told " + decisions + " and has " + found);
              }
            });
    return new Finding("a question is decided once", ledger.decisions().size(), wrong);
  }

  /** In all tables, and in what the processes printed. */
  Finding secrets() throws SQLException {
    List<String> found = new ArrayList<>();
    List<String> tables =
        database.texts(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
                + " WHERE schemaname = 'holdfast'");
    for (String table : tables) {
      long rows =
          database.count(
              "SELECT count(*) FROM " + table + " AS t WHERE t::text LIKE ?",
              "%" + Secrets.PLANTED + "%");
      if (rows > 0) {
        found.add(rows + " rows of " + table + " have it");
      }
    }
    printed.stream()
        .filter(line -> line.contains(Secrets.PLANTED))
        .map(line -> "printed: " + line)
        .forEach(found::add);
    return new Finding(
        "a secret that handlers leak is nowhere", tables.size() + printed.size(), found);
  }
}
