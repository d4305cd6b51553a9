package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LifecycleTest {
  // Shared by all tests: making the data takes a second, and every test stops what it starts.
  @TempDir(factory = OpenFolder.class)
  static Path folder;

  @Test
  void a_stopped_server_leaves_no_process() throws SQLException {
    EmbeddedPostgres server = Servers.start(folder);
    try (Connection open = Servers.connect(server)) {
      assertThat(ServerProcesses.of(folder.resolve("data"))).contains(server.pid());
      server.close();
      assertThat(open.isValid(1)).isFalse();
    }
    assertThat(ServerProcesses.of(folder.resolve("data"))).isEmpty();
    Servers.awaitGone(server.pid());
  }

  @Test
  void data_and_port_survive_a_restart() throws SQLException {
    int port;
    try (EmbeddedPostgres server = Servers.start(folder)) {
      port = server.port();
      Servers.query(server, "CREATE TABLE kept AS SELECT 42 AS answer");
    }
    try (EmbeddedPostgres server = Servers.start(folder)) {
      assertThat(server.port()).isEqualTo(port);
      assertThat(Servers.query(server, "SELECT answer FROM kept")).isEqualTo("42");
    }
  }

  @Test
  void an_immediate_stop_loses_nothing_that_was_committed() throws SQLException {
    EmbeddedPostgres server = Servers.start(folder);
    Servers.query(server, "CREATE TABLE committed AS SELECT 1");
    server.kill();
    try (EmbeddedPostgres again = Servers.start(folder)) {
      assertThat(Servers.query(again, "SELECT count(*) FROM committed")).isEqualTo("1");
    }
  }

  @Test
  void it_is_durable_and_local_by_default() throws SQLException {
    try (EmbeddedPostgres server = Servers.start(folder)) {
      assertThat(Servers.query(server, "SHOW fsync")).isEqualTo("on");
      assertThat(Servers.query(server, "SHOW synchronous_commit")).isEqualTo("on");
      assertThat(Servers.query(server, "SHOW full_page_writes")).isEqualTo("on");
      assertThat(Servers.query(server, "SHOW data_checksums")).isEqualTo("on");
      assertThat(Servers.query(server, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
      assertThat(Servers.query(server, "SHOW server_version")).isEqualTo(server.version());
    }
  }

  @Test
  void the_password_is_required_and_readable_by_the_owner_only() throws Exception {
    try (EmbeddedPostgres server = Servers.start(folder)) {
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(folder.resolve("password"))))
          .isEqualTo("rw-------");
      assertThatThrownBy(() -> DriverManager.getConnection(server.jdbcUrl(), server.user(), "no"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("password authentication failed");
    }
  }

  @Test
  void a_client_can_connect_by_the_service_file_which_only_its_owner_can_read() throws Exception {
    try (EmbeddedPostgres server = Servers.start(folder)) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(server.serviceFile())))
          .isEqualTo("rw-------");
      System.setProperty("org.postgresql.pgservicefile", server.serviceFile().toString());
      try (Connection connection =
              DriverManager.getConnection("jdbc:postgresql:?service=holdfast");
          ResultSet row = connection.createStatement().executeQuery("SELECT current_database()")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getString(1)).isEqualTo("holdfast");
      } finally {
        System.clearProperty("org.postgresql.pgservicefile");
      }
    }
  }

  @Test
  void the_password_is_stored_as_scram_with_one_iteration() throws SQLException {
    try (EmbeddedPostgres server = Servers.start(folder)) {
      String kept = Servers.query(server, "SELECT rolpassword FROM pg_authid WHERE rolcanlogin");
      assertThat(kept).startsWith("SCRAM-SHA-256$1:").doesNotContain(server.password());
    }
  }

  @Test
  void settings_reach_the_server() throws SQLException {
    try (EmbeddedPostgres server =
        EmbeddedPostgres.start(
            Servers.options(folder)
                .settings(Map.of("fsync", "off", "holdfast.note", "it's one")))) {
      assertThat(Servers.query(server, "SHOW fsync")).isEqualTo("off");
      assertThat(Servers.query(server, "SHOW holdfast.note")).isEqualTo("it's one");
    }
  }

  @Test
  void the_server_has_its_own_session_so_that_ctrl_c_does_not_reach_it() throws Exception {
    try (EmbeddedPostgres server = Servers.start(folder)) {
      String[] stat = Files.readString(Path.of("/proc/" + server.pid() + "/stat")).split(" ", -1);
      assertThat(stat[5]).as("its session").isEqualTo(Long.toString(server.pid()));
    }
  }

  @Test
  void it_stops_even_when_the_thread_is_interrupted() {
    EmbeddedPostgres server = Servers.start(folder);
    Thread.currentThread().interrupt();
    server.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(ServerProcesses.of(folder.resolve("data"))).isEmpty();
  }

  @Test
  void another_process_finds_it_while_it_runs() throws SQLException {
    try (EmbeddedPostgres server = Servers.start(folder)) {
      Running running = EmbeddedPostgres.find(folder).orElseThrow();
      assertThat(running.pid()).isEqualTo(server.pid());
      try (Connection connection = Servers.connect(running)) {
        assertThat(Servers.query(connection, "SELECT current_database()")).isEqualTo("holdfast");
      }
    }
    assertThat(EmbeddedPostgres.find(folder)).isEmpty();
    assertThat(EmbeddedPostgres.find(folder.resolve("nowhere"))).isEmpty();
  }

  @Test
  void a_java_process_that_exits_without_closing_stops_its_server() throws Exception {
    try (Child child = Child.start(folder)) {
      long server = child.awaitReady();
      child.endInput();
      Servers.awaitGone(server);
    }
  }

  @Test
  void a_terminated_java_process_stops_its_server() throws Exception {
    try (Child child = Child.start(folder)) {
      long server = child.awaitReady();
      child.terminate();
      Servers.awaitGone(server);
    }
  }
}
