package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.batch.MaterializeAndRetry;
import dev.holdfast.queue.batch.MaterializeAndRetry.Verb;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.JsonInput;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Ends attempts: sends a mixed batch to its verbs, one statement for each kind of ending in it, and
 * gives each caller the answer for its own row.
 */
public final class Settle {
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

  /** In the caller's transaction. */
  public Ack succeed(Connection connection, Settlement.Succeed settlement) throws SQLException {
    return ack(
        JsonInput.store(
                "succeed",
                Refusal.RESULT_NOT_JSON,
                () -> succeeded(connection, List.of(settlement)))
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
      settled.addAll(
          MaterializeAndRetry.all(connection, others, Settlement.Succeed::lease, Succeed::all));
    }
    return settled;
  }

  private static <S extends Settlement> Verb<S> materializing(Verb<S> verb) {
    return (connection, batch) ->
        MaterializeAndRetry.all(connection, batch, Settlement::lease, verb);
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
            connection ->
                JsonInput.store(
                    verb, Refusal.RESULT_NOT_JSON, () -> work.all(connection, settlements)));
    batches.settled(settled);
    return settlements.stream().filter(s -> settled.contains(s.lease())).toList();
  }

  private static Ack ack(boolean accepted) {
    return accepted ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }
}
