package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.batch.MaterializeBatch;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.report.AppendEvents;
import dev.holdfast.queue.report.Log;
import dev.holdfast.queue.report.Steps;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Sends a mixed batch to its verbs, one statement for each kind of ending in it, and gives each
 * caller the answer for its own row.
 */
public final class Settle {
  /** Writes one kind of ending or report; answers with the leases it was written for. */
  private interface Verb<S> {
    Set<Lease> all(Connection connection, List<S> settlements) throws SQLException;
  }

  private final Database database;
  private final Backoff backoff;
  private final BatchClaims batches;

  public Settle(Database database, Backoff backoff, BatchClaims batches) {
    this.database = database;
    this.backoff = backoff;
    this.batches = batches;
  }

  /** An attempt ends once: of several endings in one batch the first one counts. */
  public List<Ack> all(List<Settlement> given) {
    Map<Lease, Settlement> firsts = new LinkedHashMap<>();
    given.forEach(settlement -> firsts.putIfAbsent(settlement.lease(), settlement));
    List<Settlement> settlements = List.copyOf(firsts.values());
    Set<Settlement> accepted = new HashSet<>();
    accepted.addAll(settle("succeed", Settlement.Succeed.class, settlements, this::succeeded));
    accepted.addAll(
        settle(
            "fail",
            Settlement.Fail.class,
            settlements,
            materializing((connection, failed) -> Fail.all(connection, backoff, failed))));
    accepted.addAll(
        settle(
            "cancelled",
            Settlement.Cancel.class,
            settlements,
            materializing(ReleaseAttempts::cancelled)));
    accepted.addAll(
        settle(
            "snooze",
            Settlement.Snooze.class,
            settlements,
            materializing(ReleaseAttempts::snoozed)));
    accepted.addAll(
        settle(
            "release",
            Settlement.Release.class,
            settlements,
            materializing(ReleaseAttempts::released)));
    return given.stream().map(s -> ack(accepted.contains(s))).toList();
  }

  /**
   * Progress and events in one statement, logs in another; steps, which are few, each in a
   * transaction.
   */
  public List<Ack> report(List<Report> reports) {
    Set<Lease> appended =
        reported(
            "report",
            reports.stream()
                .filter(r -> r instanceof Report.Progress || r instanceof Report.Event)
                .toList(),
            AppendEvents::all);
    Set<Lease> logged =
        reported(
            "log",
            reports.stream()
                .filter(Report.Log.class::isInstance)
                .map(Report.Log.class::cast)
                .toList(),
            Log::all);
    return reports.stream()
        .map(
            report ->
                switch (report) {
                  case Report.Step step -> step(step);
                  case Report.Log log -> ack(logged.contains(log.lease()));
                  case Report.Progress progress -> ack(appended.contains(progress.lease()));
                  case Report.Event event -> ack(appended.contains(event.lease()));
                })
        .toList();
  }

  private <S extends Report> Set<Lease> reported(String verb, List<S> batch, Verb<S> work) {
    Function<S, Lease> lease = Report::lease;
    return batch.isEmpty()
        ? Set.of()
        : database.run(
            verb,
            connection ->
                storing(
                    verb,
                    Refusal.EVENT_NOT_JSON,
                    connection,
                    batch,
                    (in, some) -> materializing(in, some, lease, work)));
  }

  private Ack step(Report.Step step) {
    return database.transactByKey(
        "step",
        connection ->
            storing(
                "step",
                Refusal.RESULT_NOT_JSON,
                () ->
                    materializing(connection, step.lease(), () -> Steps.write(connection, step))));
  }

  /** In the caller's transaction. */
  public Ack succeed(Connection connection, Settlement.Succeed settlement) throws SQLException {
    return ack(
        storing(
                "succeed",
                Refusal.RESULT_NOT_JSON,
                connection,
                List.of(settlement),
                this::succeeded)
            .contains(settlement.lease()));
  }

  private Set<Lease> succeeded(Connection connection, List<Settlement.Succeed> settlements)
      throws SQLException {
    Set<Lease> settled = new HashSet<>();
    Map<Long, List<SucceedBatch.Row>> inBatches = new LinkedHashMap<>();
    for (Settlement.Succeed settlement : settlements) {
      BatchClaims.Member member = batches.find(settlement.lease());
      if (member != null) {
        inBatches
            .computeIfAbsent(member.claim(), claim -> new ArrayList<>())
            .add(new SucceedBatch.Row(settlement, member.place()));
      }
    }
    for (Map.Entry<Long, List<SucceedBatch.Row>> batch : inBatches.entrySet()) {
      // A caller's transaction may last: it must hold no claim that others want to delete.
      List<Long> ended = connection.getAutoCommit() ? batches.takeSettled() : List.of();
      settled.addAll(SucceedBatch.all(connection, batch.getKey(), batch.getValue(), ended));
    }
    List<Settlement.Succeed> others =
        settlements.stream().filter(s -> !settled.contains(s.lease())).toList();
    if (!others.isEmpty()) {
      settled.addAll(materializing(connection, others, Settlement.Succeed::lease, Succeed::all));
    }
    return settled;
  }

  /**
   * A verb matches no row of a job that is in a batch and not materialized yet. The jobs it did not
   * match are materialized, by this or, at the same time, by another connection; then the verb runs
   * once more for them.
   */
  private static <S> Set<Lease> materializing(
      Connection connection, List<S> batch, Function<S, Lease> lease, Verb<S> work)
      throws SQLException {
    Set<Lease> done = new HashSet<>(work.all(connection, batch));
    List<S> left =
        batch.stream()
            .filter(s -> lease.apply(s).attempt() == BatchClaims.ATTEMPT)
            .filter(s -> !done.contains(lease.apply(s)))
            .toList();
    if (!left.isEmpty()) {
      MaterializeBatch.leases(connection, left.stream().map(lease).toList());
      done.addAll(work.all(connection, left));
    }
    return done;
  }

  private static <S extends Settlement> Verb<S> materializing(Verb<S> work) {
    return (connection, batch) -> materializing(connection, batch, Settlement::lease, work);
  }

  /** The same for one lease. */
  public static Ack materializing(Connection connection, Lease lease, Storing<Ack> work)
      throws SQLException {
    Ack ack = work.store();
    if (ack == Ack.ACCEPTED || lease.attempt() != BatchClaims.ATTEMPT) {
      return ack;
    }
    MaterializeBatch.leases(connection, List.of(lease));
    return work.store();
  }

  /** The settlements of one kind that took effect. */
  private <S extends Settlement> List<S> settle(
      String verb, Class<S> type, List<Settlement> mixed, Verb<S> work) {
    List<S> settlements = mixed.stream().filter(type::isInstance).map(type::cast).toList();
    if (settlements.isEmpty()) {
      return List.of();
    }
    Set<Lease> settled =
        database.run(
            verb,
            connection -> storing(verb, Refusal.RESULT_NOT_JSON, connection, settlements, work));
    batches.settled(settled);
    return settlements.stream().filter(s -> settled.contains(s.lease())).toList();
  }

  private static <S> Set<Lease> storing(
      String verb, Refusal refusal, Connection connection, List<S> batch, Verb<S> work)
      throws SQLException {
    return storing(verb, refusal, () -> work.all(connection, batch));
  }

  /** Work that writes JSON which comes from a caller. */
  public interface Storing<T> {
    T store() throws SQLException;
  }

  public static <T> T storing(String verb, Refusal refusal, Storing<T> work) throws SQLException {
    try {
      return work.store();
    } catch (SQLException e) {
      if (SqlErrors.isBadData(e)) {
        throw notStorable(verb, refusal, e);
      }
      throw e;
    }
  }

  private static RefusedException notStorable(String verb, Refusal refusal, SQLException error) {
    RefusedException refused =
        new RefusedException(
            refusal, verb + ": not JSON that PostgreSQL can store: " + error.getMessage());
    refused.initCause(error);
    return refused;
  }

  private static Ack ack(boolean accepted) {
    return accepted ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }
}
