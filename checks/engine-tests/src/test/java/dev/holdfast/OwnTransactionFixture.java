package dev.holdfast;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;

/** Handlers that write to a table of their own and settle in the same transaction. */
abstract class OwnTransactionFixture extends LibraryTest {
  final List<String> heard = new CopyOnWriteArrayList<>();

  @BeforeEach
  void createTable(TestDatabase database) {
    database.sql("CREATE TABLE effect (job uuid, attempt int)");
  }

  long effects(JobId id) {
    return db.count("SELECT count(*) FROM effect WHERE job = ?", id.value());
  }

  static void write(Connection connection, JobContext context) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
      insert.setObject(1, context.id().value());
      insert.setInt(2, context.lease().attempt());
      insert.executeUpdate();
    }
  }

  /** What a handler does between its settle and its commit. */
  interface BeforeCommit {
    void happens(Connection connection, JobContext context) throws Exception;
  }

  Handler<Json> transfer(BeforeCommit beforeCommit) {
    return (payload, context) -> {
      try (Connection connection = db.dataSource().getConnection()) {
        connection.setAutoCommit(false);
        write(connection, context);
        holdfast.succeed(connection, context, Map.of("attempt", context.lease().attempt()));
        beforeCommit.happens(connection, context);
        connection.commit();
      }
      return "ignored";
    };
  }

  WorkerBuilder listened() {
    return worker()
        .listener(
            new JobListener() {
              @Override
              public void settled(LeasedJob job, Settlement settlement, Ack ack) {
                heard.add(settlement.getClass().getSimpleName() + " " + ack);
              }
            });
  }
}
