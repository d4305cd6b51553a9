package dev.holdfast.app;

import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Each test runs on the database and, with {@code ./test --release}, also through a server. */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.holdfast.app.OperatorCommandFixture#routes")
abstract class OperatorCommandFixture extends CommandFixture {
  /** How a command reaches the jobs. */
  enum Route {
    DATABASE,
    SERVER
  }

  @Parameter Route route;

  static List<Route> routes() {
    return Extent.isRelease() ? List.of(Route.values()) : List.of(Route.DATABASE);
  }

  @BeforeEach
  void connect(TestDatabase given) throws IOException {
    if (route == Route.SERVER) {
      startServer();
    }
  }
}
