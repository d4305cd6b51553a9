package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.LeaseLostException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/**
 * What a handler still writes when it has taken longer than a lease: an event, the way any handler
 * does, and a result, in the database and past its worker, which may know better by now. Only the
 * fence is left to refuse the latter.
 */
final class LateWrites {
  /** Made where it is first needed: in the process of a worker. */
  private static final class Direct {
    private static final Holdfast HOLDFAST = Holdfast.on(Records.pool());
  }

  private LateWrites() {}

  /** A handler that goes on writing when this one has ended later than its lease. */
  static <T> Handler<T> after(Handler<T> handler) {
    return (work, context) -> {
      long begin = System.nanoTime();
      try {
        return handler.handle(work, context);
      } finally {
        if (System.nanoTime() - begin > ChaosKinds.LEASE.toNanos()) {
          uninterrupted(() -> writes(context));
        }
      }
    };
  }

  /** The handler's own thread has been told to stop, and its next wait would end at once. */
  private static void uninterrupted(Runnable writes) {
    Thread thread = Thread.ofVirtual().name("late").start(writes);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException stop) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void writes(JobContext context) {
    try {
      event(context);
      result(context);
    } catch (SQLException | RuntimeException unanswered) {
      // Whether it was refused nobody was told, so it is not counted.
    }
  }

  private static void event(JobContext context) throws SQLException {
    try {
      context.event("chaos:late", Map.of("attempt", context.lease().attempt()));
    } catch (LeaseLostException refused) {
      Records.refused(context, "event");
    }
  }

  /** Never committed: an attempt that is late and still holds its job is settled by its worker. */
  private static void result(JobContext context) throws SQLException {
    Ack ack;
    try (Connection connection = Records.pool().getConnection()) {
      connection.setAutoCommit(false);
      ack =
          Direct.HOLDFAST
              .jobs()
              .succeed(
                  connection, new Settlement.Succeed(context.lease(), new Json("{\"late\":true}")));
      connection.rollback();
    }
    if (ack == Ack.LEASE_LOST) {
      Records.refused(context, "result");
    }
  }
}
