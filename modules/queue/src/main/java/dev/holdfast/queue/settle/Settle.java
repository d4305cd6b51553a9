package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.batch.MaterializedJobs;
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
  private final MaterializedJobs materialized;
  private final List<Ending<?>> endings;
  private final BatchClaims batches;

  public Settle(MaterializedJobs materialized, Backoff backoff, BatchClaims batches) {
    this.materialized = materialized;
    this.endings = Ending.table(backoff);
    this.batches = batches;
  }

  /** An attempt ends once: of several endings in one batch the first one counts. */
  public List<Ack> all(List<Settlement> given) {
    Map<Lease, Settlement> firsts = new LinkedHashMap<>();
    given.forEach(settlement -> firsts.putIfAbsent(settlement.lease(), settlement));
    List<Settlement> settlements = List.copyOf(firsts.values());
    Set<Settlement> accepted = new HashSet<>();
    endings.forEach(ending -> accepted.addAll(settle(ending, settlements)));
    return given.stream().map(s -> ack(accepted.contains(s))).toList();
  }

  /** In the caller's transaction. */
  public Ack succeed(Connection connection, Settlement.Succeed settlement) throws SQLException {
    return ack(
        MaterializedJobs.holding(
                connection, List.of(settlement), Settlement::lease, write(Ending.SUCCEED))
            .contains(settlement.lease()));
  }

  /** One row, in a transaction with others. Its job is in no batch: it was claimed over HTTP. */
  Ack one(Connection connection, Settlement settlement) throws SQLException {
    Ending<?> ending =
        endings.stream()
            .filter(each -> each.type().isInstance(settlement))
            .findFirst()
            .orElseThrow();
    return ack(ending.one(connection, settlement).contains(settlement.lease()));
  }

  /** The settlements of one kind that took effect. */
  private <S extends Settlement> List<S> settle(Ending<S> ending, List<Settlement> mixed) {
    List<S> settlements = ending.of(mixed);
    if (settlements.isEmpty()) {
      return List.of();
    }
    Set<Lease> settled =
        materialized.holding(ending.name(), settlements, Settlement::lease, write(ending));
    batches.settled(settled);
    return settlements.stream().filter(s -> settled.contains(s.lease())).toList();
  }

  private <S extends Settlement> MaterializedJobs.Verb<S> write(Ending<S> ending) {
    return (connection, settlements) ->
        JsonInput.store(
            ending.name(),
            Refusal.RESULT_NOT_JSON,
            () -> {
              Set<Lease> settled = succeededInBatches(connection, settlements);
              List<S> others =
                  settlements.stream().filter(s -> !settled.contains(s.lease())).toList();
              if (!others.isEmpty()) {
                settled.addAll(ending.ends().all(connection, others));
              }
              return settled;
            });
  }

  /** Those that succeeded in a batch that this process has claimed: one write of their rows. */
  private Set<Lease> succeededInBatches(
      Connection connection, List<? extends Settlement> settlements) throws SQLException {
    Map<Long, List<SucceedBatch.Row>> inBatches = new LinkedHashMap<>();
    for (Settlement settlement : settlements) {
      if (settlement instanceof Settlement.Succeed succeed) {
        BatchClaims.Member member = batches.find(succeed.lease());
        if (member != null) {
          inBatches
              .computeIfAbsent(member.claim(), claim -> new ArrayList<>())
              .add(new SucceedBatch.Row(succeed, member.place()));
        }
      }
    }
    Set<Lease> settled = new HashSet<>();
    for (Map.Entry<Long, List<SucceedBatch.Row>> batch : inBatches.entrySet()) {
      // A caller's transaction may last: it must hold no claim that others want to delete.
      List<Long> gone = connection.getAutoCommit() ? batches.takeSettled() : List.of();
      settled.addAll(SucceedBatch.all(connection, batch.getKey(), batch.getValue(), gone));
    }
    return settled;
  }

  private static Ack ack(boolean accepted) {
    return accepted ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }
}
