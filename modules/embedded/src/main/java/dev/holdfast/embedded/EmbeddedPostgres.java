package dev.holdfast.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A real PostgreSQL server in a folder, durable, for this machine only. */
public final class EmbeddedPostgres implements AutoCloseable {

  /**
   * @param folder everything of this server: data, log, password, lock
   * @param binaries the bin directory of an installed PostgreSQL; null for the embedded one
   * @param cache where the embedded binaries are unpacked; null for the folder itself
   * @param port 0 for a free one, kept for later starts while it stays free
   * @param settings further server settings
   * @param stopOnExit stop the server when Java exits without {@link #close}; say no where a
   *     shutdown hook of your own needs the database and closes it afterwards
   */
  public record Options(
      Path folder,
      @Nullable Path binaries,
      @Nullable Path cache,
      int port,
      Map<String, String> settings,
      boolean stopOnExit) {

    public Options {
      folder = folder.toAbsolutePath().normalize();
      binaries = binaries == null ? null : binaries.toAbsolutePath();
      cache = cache == null ? null : cache.toAbsolutePath();
      settings = Settings.check(settings);
      if (port < 0 || port > 65_535) {
        throw new IllegalArgumentException("port is " + port + ", must be 0 to 65535");
      }
    }

    public static Options in(Path folder) {
      return new Options(folder, null, null, 0, Map.of(), true);
    }

    public Options binaries(@Nullable Path bin) {
      return new Options(folder, bin, cache, port, settings, stopOnExit);
    }

    public Options cache(@Nullable Path where) {
      return new Options(folder, binaries, where, port, settings, stopOnExit);
    }

    public Options port(int number) {
      return new Options(folder, binaries, cache, number, settings, stopOnExit);
    }

    public Options settings(Map<String, String> extra) {
      return new Options(folder, binaries, cache, port, extra, stopOnExit);
    }

    public Options stopOnExit(boolean stop) {
      return new Options(folder, binaries, cache, port, settings, stop);
    }
  }

  private final Folder folder;
  private final FolderLock lock;
  private final Server server;
  private final String version;
  private final Running running;
  private final Thread hook = new Thread(this::close, "embedded-postgres-stop");
  private boolean closed;

  private EmbeddedPostgres(
      Folder folder, FolderLock lock, Server server, String version, Running running) {
    this.folder = folder;
    this.lock = lock;
    this.server = server;
    this.version = version;
    this.running = running;
  }

  /** Starts the server of a folder, or takes over the one that outlived its Java process. */
  public static EmbeddedPostgres start(Options options) {
    Folder folder = Folder.open(options.folder());
    try {
      FolderLock lock = FolderLock.acquire(folder.root(), folder.lock());
      try {
        EmbeddedPostgres started = start(options, folder, lock);
        if (options.stopOnExit()) {
          Runtime.getRuntime().addShutdownHook(started.hook);
        }
        return started;
      } catch (IOException | RuntimeException e) {
        lock.release();
        throw e;
      }
    } catch (IOException | UncheckedIOException e) {
      throw new EmbeddedPostgresException(
          "cannot start a server in %s: %s".formatted(folder.root(), e.toString()), e);
    }
  }

  private static EmbeddedPostgres start(Options options, Folder folder, FolderLock lock)
      throws IOException {
    Binaries binaries =
        options.binaries() == null
            ? Binaries.embedded(options.cache() == null ? folder.root() : options.cache())
            : Binaries.at(options.binaries());
    Launcher launcher = Launcher.probe(folder.data());
    new Cluster(folder, binaries, launcher).ensure();
    launcher.give(folder.data());
    Server server = new Server(folder, binaries, launcher);
    String password = Password.read(folder.password());
    Postmaster up = server.start(options.port(), options.settings());
    return new EmbeddedPostgres(folder, lock, server, binaries.version(), Running.of(up, password));
  }

  /** The running server of a folder, for a process that did not start it. */
  public static Optional<Running> find(Path folder) {
    try {
      if (!Files.isDirectory(folder)) {
        return Optional.empty();
      }
      Folder real = new Folder(folder.toRealPath());
      Optional<Postmaster> live = Postmaster.live(real.data()).filter(Postmaster::isReady);
      return live.isEmpty()
          ? Optional.empty()
          : Optional.of(Running.of(live.get(), Password.read(real.password())));
    } catch (IOException e) {
      throw new EmbeddedPostgresException(
          "cannot look into folder %s (%s): run as the user who started it"
              .formatted(folder, e.toString()),
          e);
    }
  }

  public String jdbcUrl() {
    return running.jdbcUrl();
  }

  public int port() {
    return running.port();
  }

  public String user() {
    return running.user();
  }

  public String password() {
    return running.password();
  }

  public long pid() {
    return running.pid();
  }

  public Path folder() {
    return folder.root();
  }

  public String version() {
    return version;
  }

  /** A fast shutdown: open transactions end, everything committed is kept, nothing runs on. */
  @Override
  public void close() {
    stop("INT");
  }

  /** An immediate stop, as after a crash: the next start recovers from the log. */
  public void kill() {
    stop("QUIT");
  }

  private synchronized void stop(String signal) {
    if (closed) {
      return;
    }
    closed = true;
    try {
      server.stop(signal);
    } catch (IOException e) {
      throw new EmbeddedPostgresException("cannot stop the server in " + folder.root(), e);
    } finally {
      lock.release();
      forgetHook();
    }
  }

  private void forgetHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // Java is shutting down already; the hook has nothing left to do.
    }
  }
}
