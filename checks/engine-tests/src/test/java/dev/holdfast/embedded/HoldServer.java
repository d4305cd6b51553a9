package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.file.Path;

/** A separate Java process that runs a server until its input ends, and does not close it. */
final class HoldServer {

  private HoldServer() {}

  public static void main(String[] arguments) throws IOException {
    EmbeddedPostgres.Options options =
        EmbeddedPostgres.Options.in(Path.of(arguments[0])).cache(Path.of(arguments[1]));
    EmbeddedPostgres server;
    try {
      server = EmbeddedPostgres.start(options);
    } catch (EmbeddedPostgresException e) {
      System.out.println(e.getMessage());
      return;
    }
    System.out.println("ready " + server.pid());
    System.in.read();
  }
}
