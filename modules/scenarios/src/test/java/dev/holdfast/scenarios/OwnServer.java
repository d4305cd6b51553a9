package dev.holdfast.scenarios;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.queue.Migrations;
import dev.holdfast.testkit.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** A database server that belongs to one test, which may therefore kill it. */
final class OwnServer implements AutoCloseable {
  private final Path folder;
  private EmbeddedPostgres server;

  private OwnServer(Path folder) {
    this.folder = folder;
    this.server = EmbeddedPostgres.start(TestServer.options(folder));
  }

  static OwnServer start() {
    try {
      // Open to others, because the server of root runs under another account.
      return new OwnServer(
          Files.setPosixFilePermissions(
              Files.createTempDirectory("holdfast-scenario-server-"),
              PosixFilePermissions.fromString("rwxr-xr-x")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  World world() {
    World world = new World(server.jdbcUrl(), server.user(), server.password());
    Migrations.apply(world.pool(), false);
    world.makeTables();
    return world;
  }

  /** As pg_ctl stop -m immediate: no session is waited for, nothing is written down. */
  void kill() {
    server.kill();
  }

  void startAgain() {
    server = EmbeddedPostgres.start(TestServer.options(folder).port(server.port()));
  }

  @Override
  public void close() {
    server.kill();
    World.delete(folder);
  }
}
