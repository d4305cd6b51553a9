package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashTest {
  @TempDir(factory = OpenFolder.class)
  static Path folder;

  @Test
  void after_kill_9_of_the_server_it_starts_again() throws SQLException {
    EmbeddedPostgres server = Servers.start(folder);
    Servers.query(server, "CREATE TABLE before_crash AS SELECT 7 AS x");
    Servers.kill(server.pid());
    server.close();
    try (EmbeddedPostgres again = Servers.start(folder)) {
      assertThat(again.port()).isEqualTo(server.port());
      assertThat(Servers.query(again, "SELECT x FROM before_crash")).isEqualTo("7");
    }
  }

  @Test
  void if_configured_it_restarts_by_itself_on_the_same_port() throws SQLException {
    try (EmbeddedPostgres server = EmbeddedPostgres.start(Servers.options(folder).revive(true))) {
      String url = server.jdbcUrl();
      long first = server.pid();
      Servers.kill(first);
      await()
          .atMost(Duration.ofMinutes(2))
          .pollInterval(Duration.ofMillis(10))
          .until(() -> server.pid() != first);
      assertThat(server.jdbcUrl()).isEqualTo(url);
      assertThat(Servers.query(server, "SELECT 1")).isEqualTo("1");
    }
    assertThat(ServerProcesses.of(folder.resolve("data"))).isEmpty();
  }

  @Test
  void a_backend_that_outlives_the_crash_is_ended() throws Exception {
    EmbeddedPostgres server = Servers.start(folder);
    try (Connection connection = Servers.connect(server)) {
      long backend = Long.parseLong(Servers.query(connection, "SELECT pg_backend_pid()"));
      Thread busy = Thread.ofVirtual().start(() -> keepBusy(connection));
      await()
          .atMost(Duration.ofMinutes(2))
          .until(
              () ->
                  Servers.query(server, "SELECT state FROM pg_stat_activity WHERE pid = " + backend)
                      .equals("active"));
      Servers.kill(server.pid());
      server.close();
      Servers.awaitGone(backend);
      busy.join();
    }
    Servers.start(folder).close();
  }

  private static void keepBusy(Connection connection) {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DO 'BEGIN LOOP END LOOP; END'");
    } catch (SQLException e) {
      // Its server was killed, as planned.
    }
  }

  @Test
  void after_kill_9_of_java_the_next_start_adopts_the_running_server() throws Exception {
    try (Child child = Child.start(folder)) {
      long pid = child.awaitReady();
      child.kill();
      try (EmbeddedPostgres server = Servers.start(folder)) {
        assertThat(server.pid()).isEqualTo(pid);
        assertThat(Servers.query(server, "SELECT 1")).isEqualTo("1");
      }
      Servers.awaitGone(pid);
    }
  }

  @Test
  void a_running_server_with_other_settings_is_restarted() throws Exception {
    try (Child child = Child.start(folder)) {
      long pid = child.awaitReady();
      child.kill();
      try (EmbeddedPostgres server =
          EmbeddedPostgres.start(Servers.options(folder).settings(Map.of("work_mem", "5MB")))) {
        assertThat(server.pid()).isNotEqualTo(pid);
        assertThat(Servers.query(server, "SHOW work_mem")).isEqualTo("5MB");
      }
      Servers.awaitGone(pid);
    }
  }

  @Test
  void after_kill_9_of_both_it_starts_again() throws Exception {
    try (Child child = Child.start(folder)) {
      long pid = child.awaitReady();
      child.kill();
      Servers.kill(pid);
      try (EmbeddedPostgres server = Servers.start(folder)) {
        assertThat(Servers.query(server, "SELECT 1")).isEqualTo("1");
      }
    }
  }

  @Test
  void after_kill_9_during_initdb_no_partial_data_is_used(
      @TempDir(factory = OpenFolder.class) Path fresh) throws Exception {
    try (Child child = Child.start(fresh)) {
      await()
          .atMost(Duration.ofMinutes(2))
          .pollInterval(Duration.ofMillis(5))
          .until(() -> hasUnfinishedData(fresh));
      child.kill();
    }
    assertThat(fresh.resolve("data")).doesNotExist();
    try (EmbeddedPostgres server = Servers.start(fresh)) {
      assertThat(Servers.query(server, "SELECT 1")).isEqualTo("1");
    }
    assertThat(hasUnfinishedData(fresh)).isFalse();
  }

  private static boolean hasUnfinishedData(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.anyMatch(
          entry ->
              entry.getFileName().toString().startsWith("data.new-")
                  && Files.exists(entry.resolve("PG_VERSION")));
    }
  }

  @Test
  void a_process_id_reused_by_another_program_is_not_mistaken_for_the_server() throws Exception {
    Servers.start(folder).close();
    writePid(folder, ProcessHandle.current().pid());
    Servers.start(folder).close();
  }

  @Test
  void the_server_of_another_folder_is_not_mistaken_for_this_one(
      @TempDir(factory = OpenFolder.class) Path other) throws Exception {
    Servers.start(folder).close();
    try (EmbeddedPostgres neighbour = Servers.start(other)) {
      writePid(folder, neighbour.pid());
      assertThat(EmbeddedPostgres.find(folder)).isEmpty();
      Servers.start(folder).close();
      assertThat(Servers.query(neighbour, "SELECT 1")).isEqualTo("1");
    }
  }

  private static void writePid(Path folder, long pid) throws IOException {
    Files.writeString(
        folder.resolve("data").resolve("postmaster.pid"),
        pid + "\n" + folder + "/data\n1\n5432\n\n127.0.0.1\n  1 1\nready   \n");
  }
}
