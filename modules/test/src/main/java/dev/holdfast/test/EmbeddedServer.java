package dev.holdfast.test;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.queue.schema.Migrations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The server that all tests of this process share. It forgets everything in a power cut, and is
 * gone when the process ends; each test has a copy of one migrated database.
 */
final class EmbeddedServer {
  private static final String TEMPLATE = "migrated";
  private static final Map<String, String> FAST =
      Map.of("fsync", "off", "full_page_writes", "off", "max_connections", "200");
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final EmbeddedPostgres server;

  /** Started by the first test that needs it. */
  private static final class Holder {
    static final EmbeddedServer SERVER = new EmbeddedServer();
  }

  static EmbeddedServer get() {
    return Holder.SERVER;
  }

  private EmbeddedServer() {
    try {
      Path folder = Files.createTempDirectory("holdfast-test");
      // Unpacked once for all processes of this user.
      Path binaries = Path.of(System.getProperty("user.home"), ".cache", "holdfast", "postgresql");
      server =
          EmbeddedPostgres.start(
              EmbeddedPostgres.Options.in(folder).cache(binaries).settings(FAST).stopOnExit(false));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> end(folder), "holdfast-test-stop"));
      acceptPlainPasswords(folder.resolve("data").resolve("pg_hba.conf"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run("CREATE DATABASE " + TEMPLATE);
    Migrations.apply(dataSource(TEMPLATE), true);
  }

  /** A password is still checked. The usual exchange of proofs costs each connection more time. */
  private void acceptPlainPasswords(Path rules) throws IOException {
    Files.writeString(rules, Files.readString(rules).replace("scram-sha-256", "password"));
    run("SELECT pg_reload_conf()");
  }

  private void end(Path folder) {
    server.kill();
    try (Stream<Path> all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder()).forEach(EmbeddedServer::delete);
    } catch (IOException | UncheckedIOException left) {
      // It lies in the folder for temporary files.
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  TestedDatabase create() {
    String name = copy();
    return new TestedDatabase(
        dataSource(name), () -> run("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"));
  }

  HoldfastDatabase keep() {
    return new HoldfastDatabase(url(copy()), server.user(), server.password());
  }

  private String copy() {
    String name = "test_" + NUMBER.incrementAndGet();
    run("CREATE DATABASE " + name + " TEMPLATE " + TEMPLATE + " STRATEGY FILE_COPY");
    return name;
  }

  private String url(String database) {
    return "jdbc:postgresql://127.0.0.1:" + server.port() + "/" + database;
  }

  private DataSource dataSource(String database) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setURL(url(database));
    source.setUser(server.user());
    source.setPassword(server.password());
    return source;
  }

  private synchronized void run(String sql) {
    try (Connection connection = dataSource("postgres").getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
