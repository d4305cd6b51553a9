package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.testkit.TestDatabase;
import java.util.function.UnaryOperator;

/** With the server in this process. */
abstract class ServerTest extends ApiTest {
  ServerTest(TestDatabase db) {
    super(db);
  }

  @Override
  final RunningServer startServer() {
    return RunningServer.of(started(holdfast, options().apply(ServerOptions.DEFAULT.port(0))));
  }

  HoldfastServer started(Holdfast on, ServerOptions options) {
    return HoldfastServer.start(on, options);
  }

  UnaryOperator<ServerOptions> options() {
    return options -> options;
  }
}
