package dev.holdfast.chaos.cluster;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.FaultProxy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL, the Patroni that looks after it, and the proxies through which the rest of the
 * world reaches both, and Patroni reaches etcd. To cut the proxies is to cut the node off.
 */
final class PatroniNode implements AutoCloseable {
  private static final Duration ANSWER = Duration.ofSeconds(2);

  private final String name;
  private final Path folder;
  private final Programs programs;
  private final int postgresPort = Programs.freePort();
  private final int apiPort = Programs.freePort();
  private final FaultProxy postgres = FaultProxy.before(postgresPort);
  private final FaultProxy api = FaultProxy.beforeHttp(apiPort);
  private final FaultProxy etcd;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(ANSWER).build();
  private @Nullable ChildProcess patroni;

  PatroniNode(String name, Path folder, Programs programs, int etcdPort) {
    this.name = name;
    this.folder = folder;
    this.programs = programs;
    this.etcd = FaultProxy.beforeHttp(etcdPort);
  }

  String name() {
    return name;
  }

  /** Where clients and the other node reach its PostgreSQL. */
  String address() {
    return "127.0.0.1:" + postgres.port();
  }

  void writeConfiguration(String password) throws IOException {
    Files.writeString(
        configuration(),
        """
        scope: holdfast
        name: %1$s
        restapi: {listen: '127.0.0.1:%2$d', connect_address: '127.0.0.1:%3$d'}
        etcd3: {proxy: 'http://127.0.0.1:%4$d'}
        bootstrap:
          dcs:
            ttl: 8
            loop_wait: 1
            retry_timeout: 3
            primary_start_timeout: 0
            synchronous_mode: true
            synchronous_mode_strict: true
            postgresql:
              use_pg_rewind: true
              parameters: {max_connections: 150, dynamic_shared_memory_type: mmap}
          initdb: [{encoding: UTF8}, {locale: C}, data-checksums]
        postgresql:
          listen: '127.0.0.1:%5$d'
          connect_address: '%6$s'
          data_dir: '%7$s'
          bin_dir: '%8$s'
          pgpass: '%9$s'
          pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256']
          parameters: {unix_socket_directories: '', log_min_messages: log}
          authentication:
            superuser: {username: holdfast, password: '%10$s'}
            replication: {username: replicator, password: '%10$s'}
        """
            .formatted(
                name,
                apiPort,
                api.port(),
                etcd.port(),
                postgresPort,
                address(),
                data(),
                Programs.POSTGRES_BIN,
                folder.resolve("pgpass-" + name),
                password));
    programs.give(configuration());
  }

  private Path configuration() {
    return folder.resolve(name + ".yml");
  }

  private Path data() {
    return folder.resolve(name);
  }

  void start() {
    patroni = programs.start(folder, List.of("patroni", configuration().toString()));
  }

  boolean isStarted() {
    return patroni != null && patroni.isAlive();
  }

  /** Whether Patroni says that this node has the role, such as {@code primary} or {@code sync}. */
  boolean is(String role) {
    try {
      return http.send(
                  HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + apiPort + "/" + role))
                      .timeout(ANSWER)
                      .build(),
                  HttpResponse.BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException away) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  // ---- faults

  void killPostgres() throws IOException {
    long pid = postmaster();
    if (pid != 0) {
      Programs.signal("KILL", pid);
    }
  }

  void killPatroni() {
    if (patroni != null) {
      Programs.signal("KILL", patroni.pid());
    }
  }

  /** Nobody reaches the node, and it reaches nobody. */
  void cutOff() {
    postgres.cut();
    api.cut();
    etcd.cut();
  }

  /** Cut off, but no connection is reset: both ends wait for answers. */
  void vanish() {
    postgres.vanish();
    api.vanish();
    etcd.vanish();
  }

  void mend() {
    postgres.mend();
    api.mend();
    etcd.mend();
  }

  /** 0 when it does not run: a file that a killed one left may name somebody else by now. */
  private long postmaster() throws IOException {
    Path file = data().resolve("postmaster.pid");
    List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
    if (lines.isEmpty()) {
      return 0;
    }
    Path command = Path.of("/proc", lines.getFirst().strip(), "cmdline");
    return Files.exists(command) && Files.readString(command).contains(data().toString())
        ? Long.parseLong(lines.getFirst().strip())
        : 0;
  }

  List<String> output() {
    return patroni == null ? List.of() : patroni.lines();
  }

  /** Patroni ends PostgreSQL when it is told to end; what it leaves is killed. */
  @Override
  public void close() {
    mend();
    if (patroni != null && patroni.isAlive()) {
      Programs.end(patroni, Duration.ofSeconds(20));
    }
    try {
      killPostgres();
    } catch (IOException alreadyGone) {
      // Nothing to end.
    }
    postgres.close();
    api.close();
    etcd.close();
    http.close();
  }
}
