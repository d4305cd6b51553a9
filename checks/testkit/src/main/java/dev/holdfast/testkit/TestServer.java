package dev.holdfast.testkit;

import dev.holdfast.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The server all tests of this JVM share, and the template their databases are copied from. */
public final class TestServer {
  /** Names the bin directory of another server to test against. */
  public static final String BIN_PROPERTY = "holdfast.test.pg.bin";

  private static final String TEMPLATE = "migrated";
  // Shared memory in its folder: a server that is killed leaves it behind, and with the folder it
  // goes.
  private static final Map<String, String> TIDY = Map.of("dynamic_shared_memory_type", "mmap");
  private static final Map<String, String> FAST =
      Map.of(
          "fsync", "off",
          "full_page_writes", "off",
          "max_wal_size", "256MB",
          "dynamic_shared_memory_type", "mmap");

  private static final PreparedServers PREPARED =
      new PreparedServers(ServerFolders.cache(), TestServer::prepare);

  private final boolean durable;
  private final EmbeddedPostgres server;
  private final Connection admin;

  private TestServer(boolean durable) {
    this.durable = durable;
    Path folder = durable ? ServerFolders.onDisk() : ServerFolders.inMemory();
    Map<String, String> settings = durable ? TIDY : FAST;
    PREPARED.copyTo(folder, Ingredients.hash());
    server = EmbeddedPostgres.start(options(folder).settings(settings).stopOnExit(false));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(folder), "test-server-stop"));
    admin = connect(server, "postgres");
  }

  // Holders, so that a server is started by the first test that needs it and by no other.
  private static final class FastHolder {
    static final TestServer SERVER = new TestServer(false);
  }

  private static final class DurableHolder {
    static final TestServer SERVER = new TestServer(true);
  }

  /** Loses data in a power cut and nothing otherwise. */
  static TestServer fast() {
    return FastHolder.SERVER;
  }

  /** Flushes every commit to the disk, as in production. */
  static TestServer durable() {
    return DurableHolder.SERVER;
  }

  /** For a test that needs a server to itself: same binaries, already unpacked. */
  public static EmbeddedPostgres.Options options(Path folder) {
    @Nullable String bin = System.getProperty(BIN_PROPERTY);
    return EmbeddedPostgres.Options.in(folder)
        .cache(ServerFolders.cache())
        .binaries(bin == null || bin.isBlank() ? null : Path.of(bin));
  }

  String url(String database) {
    return url(server, database);
  }

  private static String url(EmbeddedPostgres server, String database) {
    return "jdbc:postgresql://127.0.0.1:" + server.port() + "/" + database;
  }

  EmbeddedPostgres server() {
    return server;
  }

  int majorVersion() {
    return Integer.parseInt(server.version().replaceFirst("\\D.*", ""));
  }

  Connection connect(String database) {
    return connect(server, database);
  }

  private static Connection connect(EmbeddedPostgres server, String database) {
    String url = url(server, database);
    try {
      return DriverManager.getConnection(url, server.user(), server.password());
    } catch (SQLException e) {
      throw new IllegalStateException("cannot connect to " + url, e);
    }
  }

  /** Once for all processes and both kinds of servers. */
  private static void prepare(Path folder) {
    fill(folder);
    acceptPlainPasswords(folder.resolve("data").resolve("pg_hba.conf"));
  }

  /**
   * A password is still checked. To prove that one knows it costs a process some fifty milliseconds
   * at its first connection, and hundreds of processes are started.
   */
  private static void acceptPlainPasswords(Path rules) {
    try {
      Files.writeString(rules, Files.readString(rules).replace("scram-sha-256", "password"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void fill(Path folder) {
    try (EmbeddedPostgres server = EmbeddedPostgres.start(options(folder).settings(FAST))) {
      try (Connection admin = connect(server, "postgres")) {
        run(admin, "CREATE DATABASE " + TEMPLATE);
      }
      try (Connection template = connect(server, TEMPLATE)) {
        Ingredients.scripts().forEach(script -> run(template, script));
      }
      leaveCache(server);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whoever connects to a database whose catalog has changed writes that cache anew. */
  private static void leaveCache(EmbeddedPostgres server) throws SQLException {
    try (Connection connection = connect(server, TEMPLATE)) {
      connection.setReadOnly(true);
    }
  }

  synchronized void createMigrated(String name) {
    run(admin, "CREATE DATABASE " + name + " TEMPLATE " + TEMPLATE + strategy());
  }

  // With its files a database gets the cache of its catalog, which its first connection otherwise
  // makes; dear where each file is flushed. Servers before 15 know no other way, and no word for
  // it.
  private String strategy() {
    return durable || majorVersion() < 15 ? "" : " STRATEGY FILE_COPY";
  }

  synchronized void createEmpty(String name) {
    run(admin, "CREATE DATABASE " + name);
  }

  synchronized void drop(String name) {
    run(admin, "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
  }

  private static void run(Connection admin, String sql) {
    try (Statement statement = admin.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private void end(Path folder) {
    // No graceful stop for data that is deleted in the next line.
    server.kill();
    try {
      ServerFolders.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
