package dev.holdfast.embedded;

import java.io.IOException;
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
   * @param revive start the server again, at the same port, when it ends without being told to
   */
  public record Options(
      Path folder,
      @Nullable Path binaries,
      @Nullable Path cache,
      int port,
      Map<String, String> settings,
      boolean stopOnExit,
      boolean revive) {

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
      return new Options(folder, null, null, 0, Map.of(), true, false);
    }

    public Options binaries(@Nullable Path bin) {
      return new Options(folder, bin, cache, port, settings, stopOnExit, revive);
    }

    public Options cache(@Nullable Path where) {
      return new Options(folder, binaries, where, port, settings, stopOnExit, revive);
    }

    public Options port(int number) {
      return new Options(folder, binaries, cache, number, settings, stopOnExit, revive);
    }

    public Options settings(Map<String, String> extra) {
      return new Options(folder, binaries, cache, port, extra, stopOnExit, revive);
    }

    public Options stopOnExit(boolean stop) {
      return new Options(folder, binaries, cache, port, settings, stop, revive);
    }

    public Options revive(boolean again) {
      return new Options(folder, binaries, cache, port, settings, stopOnExit, again);
    }
  }

  private final Instance instance;

  private EmbeddedPostgres(Instance instance) {
    this.instance = instance;
  }

  /** Starts the server of a folder, or takes over the one that outlived its Java process. */
  public static EmbeddedPostgres start(Options options) {
    return new EmbeddedPostgres(Instance.start(options));
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
    return instance.running().jdbcUrl();
  }

  public int port() {
    return instance.running().port();
  }

  public String user() {
    return instance.running().user();
  }

  public String password() {
    return instance.running().password();
  }

  /** Another one after a revival. */
  public long pid() {
    return instance.running().pid();
  }

  public Path folder() {
    return instance.folder();
  }

  /** For clients on libpq: {@code PGSERVICEFILE=this psql service=holdfast}. */
  public Path serviceFile() {
    return instance.serviceFile();
  }

  public String version() {
    return instance.version();
  }

  /** A fast shutdown: open transactions end, everything committed is kept, nothing runs on. */
  @Override
  public void close() {
    instance.stop("INT");
  }

  /** An immediate stop, as after a crash: the next start recovers from the log. */
  public void kill() {
    instance.stop("QUIT");
  }
}
