package dev.holdfast.chaos.check;

import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.SingleServer;
import dev.holdfast.chaos.load.Records;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;

/** A server with the tables of a run, and nothing in them. */
record EmptyRun(Path folder, Database database) implements AutoCloseable {
  static EmptyRun start() throws Exception {
    Path folder = Processes.freshFolder();
    Database database = new Database(new SingleServer(folder));
    Migrations.apply(database.direct(), false);
    Records.create(database.direct());
    return new EmptyRun(folder, database);
  }

  @Override
  public void close() {
    database.close();
    Processes.delete(folder);
  }
}
