package dev.holdfast.embedded;

import dev.holdfast.embedded.EmbeddedPostgres.Options;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** A server this process is responsible for, from its start to its stop. */
final class Instance {
  private final Options options;
  private final Folder folder;
  private final FolderLock lock;
  private final Binaries binaries;
  private final Server server;
  private final Thread hook = new Thread(() -> stop("INT"), "embedded-postgres-stop");
  private volatile Running running;
  private boolean stopped;

  private Instance(Options options, Folder folder, FolderLock lock) throws IOException {
    this.options = options;
    this.folder = folder;
    this.lock = lock;
    binaries =
        options.binaries() == null
            ? Binaries.embedded(options.cache() == null ? folder.root() : options.cache())
            : Binaries.at(options.binaries());
    Launcher launcher = Launcher.probe(folder, binaries.bin());
    new Cluster(folder, binaries, launcher).ensure();
    launcher.give(folder.data());
    server = new Server(folder, binaries, launcher);
    String password = Password.read(folder.password());
    running = Running.of(server.start(options.port(), options.settings()), password);
    Password.writeTo(folder.service(), running.service());
  }

  static Instance start(Options options) {
    Folder folder = Folder.open(options.folder());
    try {
      FolderLock lock = FolderLock.acquire(folder.root(), folder.lock());
      try {
        Instance instance = new Instance(options, folder, lock);
        instance.attend();
        return instance;
      } catch (IOException | RuntimeException e) {
        lock.release();
        throw e;
      }
    } catch (IOException | UncheckedIOException e) {
      throw new EmbeddedPostgresException(
          "cannot start a server in %s: %s".formatted(folder.root(), e.toString()), e);
    }
  }

  private void attend() {
    if (options.stopOnExit()) {
      try {
        Runtime.getRuntime().addShutdownHook(hook);
      } catch (IllegalStateException e) {
        stop("INT");
        throw new EmbeddedPostgresException("Java is shutting down, no server is started", e);
      }
    }
    if (options.revive()) {
      Revival.watch(this);
    }
  }

  /** False when there is nothing to revive any more. */
  synchronized boolean startAgain() throws IOException {
    if (stopped) {
      return false;
    }
    // At the port the clients know, whatever was asked for at first.
    Postmaster again = server.start(running.port(), options.settings());
    running = Running.of(again, running.password());
    return true;
  }

  synchronized void stop(String signal) {
    if (stopped) {
      return;
    }
    stopped = true;
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

  Running running() {
    return running;
  }

  Path folder() {
    return folder.root();
  }

  Path serviceFile() {
    return folder.service();
  }

  String version() {
    return binaries.version();
  }
}
