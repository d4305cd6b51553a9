package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.queue.batch.MaterializedJobs.Verb;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/**
 * Which verb ends an attempt as a settlement says.
 *
 * @param name of the verb, for metrics and errors
 * @param ends writes the rows of a batch in one statement
 */
record Ending<S extends Settlement>(String name, Class<S> type, Verb<S> ends) {
  static final Ending<Settlement.Succeed> SUCCEED =
      new Ending<>("succeed", Settlement.Succeed.class, Succeed::all);

  /** One row for each kind of settlement, in the order in which a mixed batch is written. */
  static List<Ending<?>> table(Backoff backoff) {
    return List.of(
        SUCCEED,
        new Ending<>("continue", Settlement.Continue.class, Continue::all),
        new Ending<>("fail", Settlement.Fail.class, (in, failed) -> Fail.all(in, backoff, failed)),
        new Ending<>("cancelled", Settlement.Cancel.class, ReleaseAttempts::cancelled),
        new Ending<>("snooze", Settlement.Snooze.class, ReleaseAttempts::snoozed),
        new Ending<>("release", Settlement.Release.class, ReleaseAttempts::released));
  }

  /** The settlements of this kind. */
  List<S> of(List<Settlement> mixed) {
    return mixed.stream().filter(type::isInstance).map(type::cast).toList();
  }

  Set<Lease> one(Connection connection, Settlement settlement) throws SQLException {
    return ends.all(connection, List.of(type.cast(settlement)));
  }
}
