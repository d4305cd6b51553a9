package dev.holdfast.testkit;

import static dev.holdfast.testkit.Soon.SOON;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database of its own for one test or one test class. */
public final class TestDatabase implements AutoCloseable {
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final int POOL_SIZE = 10;
  private static final String EXPIRE =
      "UPDATE holdfast.job SET lease_expires_at = clock_timestamp() - interval '1 hour'";
  private static final Duration IMPATIENT = Duration.ofSeconds(5);

  private final TestServer server;
  private final String name;
  private final OwnConnection own = new OwnConnection(this::connection);
  private final Sql sql = new Sql(own);
  private final Deque<Runnable> closers = new ArrayDeque<>();
  private @Nullable HikariDataSource pool;

  private TestDatabase(TestServer server) {
    this.server = server;
    this.name = "test_" + NUMBER.incrementAndGet();
  }

  /** With the schema, on the server that all tests of this process share. */
  public static TestDatabase fresh() {
    return migrated(TestServer.fast());
  }

  static TestDatabase migrated(TestServer server) {
    TestDatabase database = new TestDatabase(server);
    server.createMigrated(database.name);
    return database;
  }

  /** Another database on the same server, without the schema; it goes when this one goes. */
  public synchronized TestDatabase empty() {
    TestDatabase database = new TestDatabase(server);
    server.createEmpty(database.name);
    closers.push(database::close);
    return database;
  }

  public String name() {
    return name;
  }

  public String url() {
    return server.url(name);
  }

  /** The server's port, to put a {@link FaultProxy} before it. */
  public int port() {
    return server.server().port();
  }

  public String user() {
    return server.server().user();
  }

  public String password() {
    return server.server().password();
  }

  /** The major version of the server under test. */
  public int serverVersion() {
    return server.majorVersion();
  }

  /** One pool per database, of ten connections in autocommit. */
  public synchronized DataSource dataSource() {
    HikariDataSource made = pool;
    if (made == null) {
      made = pool(url(), POOL_SIZE, SOON);
      pool = made;
    }
    return made;
  }

  /** A further pool, such as one of another size. */
  public synchronized DataSource dataSource(String url, int size) {
    return pool(url, size, SOON);
  }

  /** A further pool, through a proxy that breaks: it notices that nobody is there. */
  public synchronized DataSource dataSource(FaultProxy proxy, int size) {
    return pool(proxy.url(this), size, IMPATIENT);
  }

  private HikariDataSource pool(String url, int size, Duration timeout) {
    return closing(Pool.of(url, user(), password(), size, timeout));
  }

  private HikariDataSource closing(HikariDataSource made) {
    closers.push(made::close);
    return made;
  }

  /** A connection outside of any pool; the caller closes it. */
  public Connection connection() {
    return server.connect(name);
  }

  /** Runs a statement in autocommit and returns how many rows it touched. */
  public int sql(String statement, Object... arguments) {
    return sql.update(statement, arguments);
  }

  public List<Map<String, @Nullable Object>> query(String query, Object... arguments) {
    return sql.query(query, arguments);
  }

  /** The first column of the only row. */
  public <T> @Nullable T queryOne(Class<T> type, String query, Object... arguments) {
    return type.cast(sql.only(query, arguments));
  }

  /** The first column of the only row, as a number. */
  public long count(String query, Object... arguments) {
    return sql.count(query, arguments);
  }

  /** As if no worker had been heard of for longer than its leases. */
  public void expireLeases() {
    sql(EXPIRE + " WHERE state = 'RUNNING'");
  }

  /** As if the worker of this job had not been heard of for longer than its lease. */
  public void expireLease(UUID job) {
    sql(EXPIRE + " WHERE state = 'RUNNING' AND id = ?", job);
  }

  @Override
  public synchronized void close() {
    own.close();
    while (!closers.isEmpty()) {
      closers.pop().run();
    }
    server.drop(name);
  }
}
