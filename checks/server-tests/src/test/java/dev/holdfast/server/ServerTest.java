package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.util.function.UnaryOperator;

/** With the server in this process. */
public abstract class ServerTest extends ApiTest {
  public ServerTest(TestDatabase db) {
    super(db);
  }

  @Override
  public final RunningServer startServer() {
    return RunningServer.of(started(holdfast, options().apply(ServerOptions.DEFAULT.port(0))));
  }

  protected HoldfastServer started(Holdfast on, ServerOptions options) {
    return HoldfastServer.start(on, options);
  }

  protected UnaryOperator<ServerOptions> options() {
    return options -> options;
  }
}
