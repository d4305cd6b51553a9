package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Behind PgBouncer in transaction mode, with fewer connections to the server than clients. */
@OnlyWithRelease
@Durable
@ExtendWith(WorldExtension.class)
class PoolerTest {
  private static final Path PGBOUNCER = Path.of("/usr/sbin/pgbouncer");
  private static final int JOBS = 300;

  private final TestDatabase database;

  PoolerTest(TestDatabase database) {
    this.database = database;
  }

  @Test
  void workers_and_clients_work_behind_a_pooler_in_transaction_mode() throws Exception {
    runsAllJobs("ignore_startup_parameters = extra_float_digits,options", List.of());
  }

  @Test
  void a_pooler_that_refuses_startup_options_is_reported_in_one_line() throws Exception {
    runsAllJobs(
        "ignore_startup_parameters = extra_float_digits",
        List.of("a pooler refuses start-up options"));
  }

  private void runsAllJobs(String setting, List<String> said) throws Exception {
    Assumptions.assumeTrue(
        Files.isExecutable(PGBOUNCER), "PgBouncer is not installed: apt-get install pgbouncer");
    int port = freePort();
    try (World direct = World.on(database);
        ChildProcess running = pooler(direct.folder(), port, setting);
        World world =
            new World(
                "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, database.name()),
                database.user(),
                database.password())) {
      assertThat(running.isAlive()).isTrue();
      ChildProcess worker =
          world.worker("--concurrency", "8").env("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1").start();
      ChildProcess server = world.launch("server").start();
      List<CompletableFuture<Void>> clients = new ArrayList<>();
      for (int client = 0; client < 4; client++) {
        clients.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int i = 0; i < JOBS / 4; i++) {
                    world
                        .holdfast()
                        .enqueue(
                            Job.of("effect", new ScenarioKinds.Work(1))
                                .concurrencyKey("k" + i % 7, 3));
                  }
                }));
      }
      CompletableFuture.allOf(clients.toArray(CompletableFuture[]::new)).join();
      direct.awaitAll(JOBS);
      assertThat(direct.sql().count("SELECT count(*) FROM effect")).isEqualTo(JOBS);
      for (ChildProcess process : List.of(worker, server)) {
        List<String> trouble =
            process.lines().stream()
                .filter(line -> line.contains("WARN") || line.contains("ERROR") || isTrace(line))
                .filter(line -> !line.contains("notifications do not arrive"))
                .filter(line -> said.stream().noneMatch(line::contains))
                .toList();
        assertThat(trouble).isEmpty();
        assertThat(said).allSatisfy(text -> assertThat(lines(process, text)).isEqualTo(1));
      }
      assertThat(lines(worker, "notifications do not arrive")).isEqualTo(1);
    }
  }

  private static boolean isTrace(String line) {
    return line.startsWith("\tat ") || line.startsWith("Caused by");
  }

  private static long lines(ChildProcess process, String text) {
    return process.lines().stream().filter(line -> line.contains(text)).count();
  }

  private ChildProcess pooler(Path folder, int port, String setting) throws IOException {
    Path users = folder.resolve("users.txt");
    Files.writeString(users, "\"%s\" \"%s\"%n".formatted(database.user(), database.password()));
    Path configuration = folder.resolve("pgbouncer.ini");
    Files.writeString(
        configuration,
        """
        [databases]
        * = host=127.0.0.1 port=%d
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %d
        unix_socket_dir =
        auth_type = plain
        auth_file = %s
        pool_mode = transaction
        default_pool_size = 3
        max_client_conn = 200
        %s
        """
            .formatted(database.port(), port, users, setting));
    for (Path file : List.of(users, configuration)) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    }
    List<String> command = new ArrayList<>();
    if ("root".equals(System.getProperty("user.name"))) {
      // It does not run as root.
      command.addAll(List.of("setpriv", "--reuid=nobody", "--clear-groups"));
    }
    command.addAll(List.of(PGBOUNCER.toString(), configuration.toString()));
    ChildProcess pooler = ChildProcess.start(new ProcessBuilder(command));
    pooler.awaitLine("process up", SOON);
    return pooler;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
