package dev.holdfast.chaos.cluster;

import dev.holdfast.testkit.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The programs of a cluster, from Debian's packages, run by somebody who is not root. */
final class Programs {
  static final Path POSTGRES_BIN = Path.of("/usr/lib/postgresql/15/bin");
  private static final String PACKAGES = "patroni etcd-server postgresql-15";
  private static final String ACCOUNT = "postgres";

  private final boolean root;

  private Programs(boolean root) {
    this.root = root;
  }

  /**
   * The programs, installed first where that is allowed.
   *
   * @throws NotInstalledException with one line that says what to install
   */
  static Programs found() throws IOException, InterruptedException {
    boolean root = "0".equals(firstLine("id", "-u"));
    if (!installed() && root && onPath("apt-get")) {
      ProcessBuilder apt =
          new ProcessBuilder(
              Stream.of("apt-get install -y --no-install-recommends " + PACKAGES)
                  .flatMap(line -> Stream.of(line.split(" ", -1)))
                  .toList());
      apt.environment().put("DEBIAN_FRONTEND", "noninteractive");
      // The package would start a server of its own.
      apt.environment().put("RUNLEVEL", "1");
      apt.redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    }
    if (!installed()) {
      throw new NotInstalledException(
          "a cluster needs Patroni, etcd and PostgreSQL 15: apt-get install " + PACKAGES);
    }
    return new Programs(root);
  }

  static boolean installed() {
    return onPath("patroni")
        && onPath("etcd")
        && Files.isExecutable(POSTGRES_BIN.resolve("postgres"));
  }

  private static boolean onPath(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  private static String firstLine(String... command) throws IOException {
    Process process = new ProcessBuilder(command).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
  }

  /** In a session of its own: Ctrl-C ends the run, which then ends its programs. */
  ChildProcess start(Path folder, List<String> command) {
    List<String> all = new ArrayList<>(List.of("setsid"));
    if (root) {
      all.addAll(List.of("setpriv", "--reuid=" + ACCOUNT, "--regid=" + ACCOUNT, "--clear-groups"));
    }
    all.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(all).directory(folder.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
    // Programs that a killed one leaves behind hold its output open.
    builder.redirectInput(new File("/dev/null"));
    return ChildProcess.start(builder);
  }

  /** To the account under which the programs run. */
  void give(Path path) throws IOException {
    if (root) {
      try {
        new ProcessBuilder("chown", "-R", ACCOUNT + ":", path.toString()).start().waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void signal(String name, long pid) {
    try {
      // Gone already is as good.
      new ProcessBuilder("kill", "-s", name, Long.toString(pid))
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor(10, TimeUnit.SECONDS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void end(ChildProcess process, Duration limit) {
    signal("TERM", process.pid());
    try {
      process.awaitExit(limit);
    } catch (AssertionError stillThere) {
      // It is killed.
    }
    process.close();
  }
}
