package dev.holdfast.queue;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RefusedException;
import dev.holdfast.model.Report;
import dev.holdfast.model.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Sends a mixed batch to its verbs, one statement for each kind of ending in it, and gives each
 * caller the answer for its own row.
 */
final class Settle {
  /** Writes one kind of ending; answers with the leases that are settled. */
  private interface Verb<S> {
    Set<Lease> all(Connection connection, List<S> settlements) throws SQLException;
  }

  private final Database database;

  Settle(Database database) {
    this.database = database;
  }

  List<Ack> all(List<Settlement> settlements) {
    Set<Lease> settled = new HashSet<>();
    settled.addAll(
        run(
            "succeed",
            Settlement.Succeed.class,
            settlements,
            Refusal.RESULT_NOT_JSON,
            Succeed::all));
    settled.addAll(
        run("fail", Settlement.Fail.class, settlements, Refusal.EVENT_NOT_JSON, Fail::all));
    settled.addAll(
        run(
            "cancelled",
            Settlement.Cancel.class,
            settlements,
            Refusal.RESULT_NOT_JSON,
            GiveBack::cancelled));
    settled.addAll(
        run(
            "snooze",
            Settlement.Snooze.class,
            settlements,
            Refusal.EVENT_NOT_JSON,
            GiveBack::snoozed));
    settled.addAll(
        run(
            "release",
            Settlement.Release.class,
            settlements,
            Refusal.EVENT_NOT_JSON,
            GiveBack::released));
    return settlements.stream().map(s -> ack(settled, s.lease())).toList();
  }

  List<Ack> report(List<Report> reports) {
    Set<Lease> told = run("tell", Report.class, reports, Refusal.EVENT_NOT_JSON, Tell::all);
    return reports.stream().map(r -> ack(told, r.lease())).toList();
  }

  private <S> Set<Lease> run(
      String verb, Class<S> type, List<? super S> mixed, Refusal refusal, Verb<S> work) {
    List<S> batch = mixed.stream().filter(type::isInstance).map(type::cast).toList();
    if (batch.isEmpty()) {
      return Set.of();
    }
    return database.run(
        verb,
        connection -> {
          try {
            return work.all(connection, batch);
          } catch (SQLException trouble) {
            if (Trouble.isBadData(trouble)) {
              throw notStorable(verb, refusal, trouble);
            }
            throw trouble;
          }
        });
  }

  private static RefusedException notStorable(String verb, Refusal refusal, SQLException trouble) {
    RefusedException refused =
        new RefusedException(
            refusal, verb + ": not JSON that PostgreSQL can store: " + trouble.getMessage());
    refused.initCause(trouble);
    return refused;
  }

  private static Ack ack(Set<Lease> settled, Lease lease) {
    return settled.contains(lease) ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }
}
