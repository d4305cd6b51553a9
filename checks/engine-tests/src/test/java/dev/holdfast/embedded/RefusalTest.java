package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.embedded.EmbeddedPostgres.Options;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every refusal is one line that says what is wrong and what to do. */
class RefusalTest {
  @TempDir(factory = OpenFolder.class)
  static Path made;

  private static AbstractThrowableAssert<?, ?> assertRefused(Options options) {
    return assertThatThrownBy(() -> EmbeddedPostgres.start(options).close())
        .isInstanceOf(EmbeddedPostgresException.class)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }

  @Test
  void a_folder_held_by_another_java_process() throws Exception {
    try (Child child = Child.start(made)) {
      child.awaitReady();
      assertRefused(Servers.options(made))
          .isInstanceOf(FolderInUseException.class)
          .hasMessageContaining(made.toString())
          .hasMessageContaining("pid " + child.pid())
          .hasMessageContaining("stop that process, or choose another folder");
      child.endInput();
    }
  }

  @Test
  void a_folder_held_by_this_java_process() {
    try (EmbeddedPostgres server = Servers.start(made)) {
      assertRefused(Servers.options(made)).isInstanceOf(FolderInUseException.class);
      // The refusal must not have released the lock.
      assertRefused(Servers.options(made)).isInstanceOf(FolderInUseException.class);
      assertThat(server.folder()).isEqualTo(made);
    }
  }

  @Test
  void a_folder_that_cannot_be_created(@TempDir(factory = OpenFolder.class) Path folder)
      throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    assertRefused(Servers.options(file.resolve("below")))
        .hasMessageContaining("choose a folder that may be written");
  }

  @Test
  void data_of_another_major_version() throws Exception {
    Servers.start(made).close();
    Path version = made.resolve("data").resolve("PG_VERSION");
    String real = Files.readString(version);
    Files.writeString(version, "15\n");
    try {
      assertRefused(Servers.options(made))
          .hasMessageContaining("data of PostgreSQL 15")
          .hasMessageContaining("use binaries of version 15");
    } finally {
      Files.writeString(version, real);
    }
    Servers.start(made).close();
  }

  @Test
  void a_data_folder_that_holds_something_else(@TempDir(factory = OpenFolder.class) Path folder)
      throws Exception {
    Path precious = Files.createDirectory(folder.resolve("data")).resolve("precious");
    Files.createFile(precious);
    assertRefused(Servers.options(folder)).hasMessageContaining("move it away");
    assertThat(precious).exists();
  }

  @Test
  void a_lost_password_file() throws Exception {
    Servers.start(made).close();
    Path aside = made.resolve("aside");
    Files.move(made.resolve("password"), aside);
    try {
      assertRefused(Servers.options(made)).hasMessageContaining("put it back");
    } finally {
      Files.move(aside, made.resolve("password"));
    }
  }

  @Test
  void a_port_that_is_taken() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertRefused(Servers.options(made).port(taken.getLocalPort()))
          .isInstanceOf(PortTakenException.class)
          .hasMessageContaining("port " + taken.getLocalPort());
    }
  }

  @Test
  void a_remembered_port_that_is_taken_is_replaced() throws Exception {
    Servers.start(made).close();
    int remembered = Integer.parseInt(Files.readString(made.resolve("port")).strip());
    try (ServerSocket taken = new ServerSocket(remembered, 1, InetAddress.getLoopbackAddress());
        EmbeddedPostgres server = Servers.start(made)) {
      assertThat(server.port()).isNotEqualTo(taken.getLocalPort());
    }
  }

  @Test
  void a_server_that_does_not_start_reports_its_last_log_lines() {
    assertRefused(Servers.options(made).settings(Map.of("work_mem", "lots")))
        .hasMessageContaining("work_mem")
        .hasMessageContaining("ended while starting");
    assertThat(ServerProcesses.of(made.resolve("data"))).isEmpty();
  }

  @Test
  void a_folder_without_server_programs(@TempDir(factory = OpenFolder.class) Path folder) {
    assertRefused(Options.in(folder).binaries(folder))
        .hasMessageContaining("name the bin directory of an installed PostgreSQL");
  }

  @Test
  void settings_that_are_reserved_or_invalid(@TempDir(factory = OpenFolder.class) Path folder) {
    assertThatThrownBy(() -> Options.in(folder).settings(Map.of("port", "1")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Options.in(folder).settings(Map.of("a b", "1")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Options.in(folder).port(70_000))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
