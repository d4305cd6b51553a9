package dev.holdfast.queue.batch;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Runs verbs of workers. A verb finds no row of a job that was claimed in a batch and has not been
 * written since. What it did not find is materialized, by this or, at the same time, by another
 * connection; then it looks again.
 */
public final class MaterializeAndRetry {
  private MaterializeAndRetry() {}

  /** Writes one kind of ending or report; answers with the leases it was written for. */
  public interface Verb<S> {
    Set<Lease> all(Connection connection, List<S> batch) throws SQLException;
  }

  /** The same for one lease. */
  public interface Single {
    Ack run() throws SQLException;
  }

  public static <S> Set<Lease> all(
      Connection connection, List<S> batch, Function<S, Lease> lease, Verb<S> verb)
      throws SQLException {
    Set<Lease> done = new HashSet<>(verb.all(connection, batch));
    List<S> left =
        batch.stream()
            .filter(s -> lease.apply(s).attempt() == BatchClaims.ATTEMPT)
            .filter(s -> !done.contains(lease.apply(s)))
            .toList();
    if (!left.isEmpty()) {
      MaterializeBatch.leases(connection, left.stream().map(lease).toList());
      done.addAll(verb.all(connection, left));
    }
    return done;
  }

  public static Ack one(Connection connection, Lease lease, Single verb) throws SQLException {
    Ack ack = verb.run();
    if (ack == Ack.ACCEPTED || lease.attempt() != BatchClaims.ATTEMPT) {
      return ack;
    }
    MaterializeBatch.leases(connection, List.of(lease));
    return verb.run();
  }
}
