package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;

/** The data folder: made whole or not at all. */
final class Cluster {
  private static final String UNFINISHED = "data.new-";

  private final Folder folder;
  private final Binaries binaries;
  private final Launcher launcher;

  Cluster(Folder folder, Binaries binaries, Launcher launcher) {
    this.folder = folder;
    this.binaries = binaries;
    this.launcher = launcher;
  }

  void ensure() throws IOException {
    removeUnfinished();
    Path version = folder.data().resolve("PG_VERSION");
    if (Files.exists(version)) {
      checkMajor(Files.readString(version).strip());
    } else {
      checkNothingThere();
      make();
    }
  }

  private void checkMajor(String major) {
    if (!major.equals(binaries.major())) {
      throw new EmbeddedPostgresException(
          "%s holds data of PostgreSQL %s but the binaries in %s are %s: use binaries of version %s, or move the folder away to start with an empty one"
              .formatted(folder.data(), major, binaries.bin(), binaries.version(), major));
    }
  }

  // What we did not make we do not delete.
  private void checkNothingThere() throws IOException {
    if (!Files.exists(folder.data())) {
      return;
    }
    try (Stream<Path> entries = Files.list(folder.data())) {
      if (entries.findAny().isPresent()) {
        throw new EmbeddedPostgresException(
            "%s is not a PostgreSQL data folder but not empty either: move it away"
                .formatted(folder.data()));
      }
    }
    Files.delete(folder.data());
  }

  private void make() throws IOException {
    Path fresh = Files.createTempDirectory(folder.root(), UNFINISHED);
    Path secret = folder.root().resolve("password.initdb");
    try {
      Password.create(folder.password());
      Password.writeTo(secret, Password.verifier(Password.read(folder.password())));
      launcher.give(fresh);
      launcher.give(secret);
      initdb(fresh, secret);
      createDatabase(fresh);
      Files.writeString(
          fresh.resolve("postgresql.conf"),
          "include '" + Settings.FILE + "'\n",
          StandardOpenOption.APPEND);
      run("initdb", "", "--sync-only", "-D", fresh.toString());
      Files.move(fresh, folder.data(), StandardCopyOption.ATOMIC_MOVE);
      Trees.syncOne(folder.root());
    } finally {
      Files.deleteIfExists(secret);
      Trees.delete(fresh);
    }
  }

  private void initdb(Path fresh, Path secret) {
    run(
        "initdb",
        "",
        "--pgdata=" + fresh,
        "--username=" + Running.USER,
        "--pwfile=" + secret,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums",
        "--no-sync");
  }

  // In single-user mode, because it needs no port, no password and no driver.
  private void createDatabase(Path fresh) {
    run(
        "postgres",
        "CREATE DATABASE " + Running.DATABASE + "\n",
        "--single",
        "-D",
        fresh.toString(),
        "-c",
        "fsync=off",
        "postgres");
  }

  private void run(String program, String input, String... arguments) {
    Path path = binaries.program(program);
    Command.runOrFail(launcher.command(path, arguments), path, input);
  }

  private void removeUnfinished() throws IOException {
    try (Stream<Path> entries = Files.list(folder.root())) {
      for (Path entry : entries.toList()) {
        if (entry.getFileName().toString().startsWith(UNFINISHED)) {
          Trees.delete(entry);
        }
      }
    }
  }
}
