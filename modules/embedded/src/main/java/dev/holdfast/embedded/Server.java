package dev.holdfast.embedded;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** The server process of one folder, whether we launch it or find it running. */
final class Server {
  private static final int ATTEMPTS = 5;
  // Long, because the server replays its log after a crash; it says so in its own log.
  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final Duration FAST_LIMIT = Duration.ofSeconds(60);
  private static final Duration IMMEDIATE_LIMIT = Duration.ofSeconds(10);

  private final Folder folder;
  private final Path data;
  private final Binaries binaries;
  private final Launcher launcher;
  private final ServerLog log;

  Server(Folder folder, Binaries binaries, Launcher launcher) {
    this.folder = folder;
    this.data = folder.data();
    this.binaries = binaries;
    this.launcher = launcher;
    this.log = new ServerLog(folder.log());
  }

  /** Returns once the server takes connections. */
  Postmaster start(int port, Map<String, String> settings) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Optional<Postmaster> found = Postmaster.live(data);
      Optional<Postmaster> ready =
          found.isPresent() && fits(found.get(), port, settings)
              ? awaitReady(found.get().pid(), () -> ServerProcesses.serves(found.get().pid(), data))
              : launchAfresh(port, settings);
      if (ready.isPresent()) {
        return ready.get();
      }
    }
    throw new EmbeddedPostgresException(
        "the server in %s does not come up: %s".formatted(data, log.tail()));
  }

  // A server that outlived its Java process is used again, if its options are the same.
  private boolean fits(Postmaster found, int port, Map<String, String> settings)
      throws IOException {
    Path written = data.resolve(Settings.FILE);
    return !found.isStopping()
        && (port == 0 || port == found.port())
        && Files.exists(written)
        && Files.readString(written).equals(Settings.render(found.port(), settings));
  }

  /** Empty when a free port was lost to another process in the last moment. */
  private Optional<Postmaster> launchAfresh(int wanted, Map<String, String> settings)
      throws IOException {
    stop("INT");
    // Its process id may belong to someone else by now, and then the server would not start.
    Files.deleteIfExists(Postmaster.file(data));
    int port = choosePort(wanted);
    Files.writeString(folder.port(), port + "\n");
    Files.writeString(data.resolve(Settings.FILE), Settings.render(port, settings));
    launcher.give(data.resolve(Settings.FILE));
    log.begin();
    Process process =
        Command.builder(launcher.server(binaries.program("postgres"), "-D", data.toString()))
            .redirectInput(new File("/dev/null"))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.log().toFile()))
            .start();
    Optional<Postmaster> ready = awaitReady(process.pid(), process::isAlive);
    if (ready.isEmpty() && Ports.isFree(port)) {
      throw new EmbeddedPostgresException(
          "the server in %s ended while starting: %s".formatted(data, log.tail()));
    }
    return ready;
  }

  private int choosePort(int wanted) throws IOException {
    if (wanted == 0) {
      return Ports.rememberedOrFree(folder.port());
    }
    if (!Ports.isFree(wanted)) {
      throw new PortTakenException(wanted);
    }
    return wanted;
  }

  private Optional<Postmaster> awaitReady(long pid, BooleanSupplier alive) throws IOException {
    if (!Poll.until(START_LIMIT, () -> ready(pid).isPresent() || !alive.getAsBoolean())) {
      stop("INT");
      throw new EmbeddedPostgresException(
          "the server in %s was not ready after %d s: %s"
              .formatted(data, START_LIMIT.toSeconds(), log.tail()));
    }
    return ready(pid).filter(postmaster -> alive.getAsBoolean());
  }

  private Optional<Postmaster> ready(long pid) {
    try {
      return Postmaster.read(data).filter(found -> found.pid() == pid && found.isReady());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** INT is a fast shutdown, QUIT an immediate one; either way nothing is left when it returns. */
  void stop(String signal) throws IOException {
    Optional<Postmaster> live = Postmaster.live(data);
    if (live.isPresent()) {
      long pid = live.get().pid();
      boolean gone =
          signal(signal, pid, signal.equals("INT") ? FAST_LIMIT : IMMEDIATE_LIMIT)
              || signal("QUIT", pid, IMMEDIATE_LIMIT);
      if (!gone) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
      }
    }
    ServerProcesses.end(data);
  }

  // By the server's own program: Java cannot send these signals, and a kill command may be missing.
  private boolean signal(String signal, long pid, Duration limit) throws IOException {
    Path program = binaries.program("pg_ctl");
    Command.run(launcher.command(program, "kill", signal, Long.toString(pid)), "");
    return Poll.until(limit, () -> !ServerProcesses.serves(pid, data));
  }
}
