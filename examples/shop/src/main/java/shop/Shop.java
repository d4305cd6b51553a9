package shop;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;

/** Takes orders. The mail and the invoice of an order are jobs. */
public final class Shop {
  private static final String TABLES =
      """
      CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY, cents bigint NOT NULL);
      CREATE TABLE IF NOT EXISTS ledger (order_id uuid NOT NULL REFERENCES orders, cents bigint NOT NULL);
      """;
  private static final String INSERT_ORDER = "INSERT INTO orders (id, cents) VALUES (?, ?)";
  private static final String INSERT_ENTRY = "INSERT INTO ledger (order_id, cents) VALUES (?, ?)";

  /** The payload of both kinds of job: any record that Jackson can write. */
  record Order(UUID id, String customer, long cents) {}

  private final DataSource dataSource;
  private final Holdfast holdfast;

  Shop(DataSource dataSource, Holdfast holdfast) {
    this.dataSource = dataSource;
    this.holdfast = holdfast;
  }

  void createTables() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(TABLES);
    }
  }

  List<Enqueued> order(Order order) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      List<Enqueued> jobs = place(connection, order);
      connection.commit();
      return jobs;
    }
  }

  // region essentials
  /** In your transaction: the order and its jobs commit together, or not at all. */
  List<Enqueued> place(Connection connection, Order order) throws SQLException {
    insert(connection, INSERT_ORDER, order);
    Job mail = Job.of("send-mail", order).queue("shop");
    Job invoice = Job.of("post-invoice", order).queue("shop");
    return holdfast.enqueue(connection, List.of(mail, invoice));
  }

  /** {@code shop.worker().start()} runs the jobs, on as many machines as you like. */
  WorkerBuilder worker() {
    return holdfast
        .worker("shop")
        .handle("send-mail", Order.class, this::sendMail)
        .handle("post-invoice", Order.class, this::postInvoice);
  }

  // endregion

  /** What a handler returns is the job's result; what it throws fails the attempt. */
  private Object sendMail(Order order, JobContext context) {
    System.out.println("mail to " + order.customer() + ": thank you for order " + order.id());
    return Map.of("sent", true);
  }

  // region settle
  /** The entry and the end of the job are one transaction, so the entry is made exactly once. */
  private Object postInvoice(Order order, JobContext context) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      insert(connection, INSERT_ENTRY, order);
      holdfast.succeed(connection, context, Map.of("posted", order.cents()));
      connection.commit();
    }
    return null; // the result is given already
  }

  // endregion

  private static void insert(Connection connection, String sql, Order order) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, order.id());
      statement.setLong(2, order.cents());
      statement.executeUpdate();
    }
  }

  public static void main(String[] arguments) throws Exception {
    HikariConfig config = new HikariConfig(); // any pool will do
    config.setJdbcUrl(System.getenv("DATABASE_URL"));
    config.setMaximumPoolSize(20); // ten for Holdfast, and one for each of ten handlers
    try (HikariDataSource pool = new HikariDataSource(config);
        Holdfast holdfast = Holdfast.on(pool).check()) {
      Shop shop = new Shop(pool, holdfast);
      shop.createTables();
      try (Worker worker = shop.worker().start()) {
        for (Enqueued job : shop.order(new Order(UUID.randomUUID(), "ada@example.org", 4_200))) {
          JobStatus end = holdfast.await(job.id(), Duration.ofMinutes(1)).orElseThrow();
          System.out.println(end.kind() + " " + end.state() + " " + end.result());
        }
      } // closing: claims nothing more, lets running jobs finish, releases those that take too long
    }
  }
}
