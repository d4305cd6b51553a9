package dev.holdfast.scenarios;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.TestServer;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;

/** A database server that belongs to one test, which may therefore kill it. */
final class OwnServer implements AutoCloseable {
  private final Path folder;
  private EmbeddedPostgres server;

  private OwnServer(Path folder) {
    this.folder = folder;
    this.server = EmbeddedPostgres.start(TestServer.options(folder));
  }

  static OwnServer start() {
    return new OwnServer(Processes.freshFolder());
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
    Processes.delete(folder);
  }
}
