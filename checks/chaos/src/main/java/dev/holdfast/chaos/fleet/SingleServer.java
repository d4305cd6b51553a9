package dev.holdfast.chaos.fleet;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL that may be killed, and the proxy through which everybody but the checks reaches it.
 * Where that is possible its data and its write-ahead log are on volumes that can be full.
 */
public final class SingleServer implements PostgresServer {
  private static final int DATA_MB = 2_000;
  private static final int WAL_MB = 400;
  // So that the log's volume is small and new segments are needed all the time.
  private static final Map<String, String> SETTINGS =
      Map.of("max_wal_size", "160MB", "dynamic_shared_memory_type", "mmap");

  private final Path folder;
  private @Nullable Volume data;
  private @Nullable Volume wal;
  private EmbeddedPostgres server;
  private final FaultProxy proxy;

  public SingleServer(Path folder) {
    this(folder, false);
  }

  /**
   * @param volumes whether disks can be full
   */
  public SingleServer(Path parent, boolean volumes) {
    folder = parent.resolve("postgres");
    try {
      Files.createDirectories(folder);
      if (volumes) {
        data = Volume.mount(parent.resolve("data.image"), folder, DATA_MB);
        wal = Volume.mount(parent.resolve("wal.image"), parent.resolve("wal"), WAL_MB);
      }
      server = EmbeddedPostgres.start(TestServer.options(folder).settings(SETTINGS));
      if (volumes) {
        server.close();
        moveLog(parent.resolve("wal"));
        server = EmbeddedPostgres.start(TestServer.options(folder).settings(SETTINGS));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.proxy = FaultProxy.before(server.port());
  }

  private void moveLog(Path to) throws IOException {
    Path from = folder.resolve("data").resolve("pg_wal");
    Path there = to.resolve("pg_wal");
    Process move =
        new ProcessBuilder("cp", "-a", from.toString(), there.toString()).inheritIO().start();
    if (move.onExit().join().exitValue() != 0) {
      throw new IOException("cannot move " + from);
    }
    try (Stream<Path> walk = Files.walk(from)) {
      for (Path each : walk.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
    Files.createSymbolicLink(from, there);
  }

  /** As a server that crashes: what it had not flushed is gone. */
  public synchronized void kill() {
    server.kill();
  }

  public synchronized void startAgain() {
    server =
        EmbeddedPostgres.start(TestServer.options(folder).settings(SETTINGS).port(server.port()));
  }

  public synchronized long pid() {
    return server.pid();
  }

  public FaultProxy proxy() {
    return proxy;
  }

  /** Of tables and indexes; null where there is none of its own. */
  public @Nullable Volume data() {
    return data;
  }

  /** Of the write-ahead log. */
  public @Nullable Volume wal() {
    return wal;
  }

  @Override
  public String url() {
    return url(proxy.port());
  }

  @Override
  public String directUrl() {
    return url(server.port());
  }

  private static String url(int port) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  @Override
  public String user() {
    return server.user();
  }

  @Override
  public String password() {
    return server.password();
  }

  @Override
  public void close() {
    proxy.close();
    server.kill();
    for (Volume volume : new Volume[] {wal, data}) {
      if (volume != null) {
        volume.close();
      }
    }
  }
}
