package dev.holdfast.server.http;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.HostOriginPolicy;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.routing.AnswerCache;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.RequestHandler;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.routing.Router;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import io.helidon.webserver.WebServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Responses of a server while it stops. */
@ExtendWith(DatabaseExtension.class)
public class StoppingServerTest {
  private final Holdfast holdfast;
  private final SlowRequestTimeout slowRequests = new SlowRequestTimeout(SOON);
  private final RequestHandler handler;
  private final WebServer web;

  StoppingServerTest(TestDatabase db) {
    this.holdfast = Holdfast.on(db.dataSource());
    JobStore store = holdfast.store();
    ServerOptions options = ServerOptions.DEFAULT.port(0);
    Keyring keyring = new Keyring(store.admin());
    Clock clock = Clock.systemUTC();
    Authenticator authenticator =
        new Authenticator(
            store.admin(),
            new TaskTokens(keyring, options.tokens(), clock),
            new Sessions(keyring, clock),
            options,
            store.queries()::heldWithin);
    List<Route> routes =
        List.of(
            Route.get("/here", Guard.OPEN, call -> Answer.ok("here")),
            Route.get(
                "/interrupted",
                Guard.OPEN,
                call -> {
                  throw new InterruptedException("the web server ends");
                }));
    this.handler =
        new RequestHandler(
            new Router(routes),
            authenticator,
            new HostOriginPolicy(options),
            slowRequests,
            new AnswerCache(tenant -> 0),
            RequestObserver.NONE);
    this.web = HoldfastServer.web(options, handler, slowRequests);
  }

  @AfterEach
  void stop() {
    web.stop();
    slowRequests.close();
    holdfast.close();
  }

  private String sent(String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), web.port())) {
      socket.setSoTimeout((int) SOON.toMillis());
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void assertStopping(String answer) {
    assertThat(answer)
        .startsWith("HTTP/1.1 503 ")
        .containsIgnoringCase("Retry-After: 1\r\n")
        .containsIgnoringCase("Content-Type: application/problem+json")
        .contains("\"error\":\"stopping\"");
  }

  @Test
  void a_request_is_answered_as_retryable_and_its_connection_closed() throws IOException {
    String request = "GET /here HTTP/1.1\r\nHost: localhost\r\n";
    assertThat(sent(request + "Connection: close\r\n\r\n")).startsWith("HTTP/1.1 200 ");
    handler.stop();
    assertStopping(sent(request + "\r\n"));
  }

  @Test
  void a_request_whose_body_cannot_be_read_is_answered_as_retryable() throws IOException {
    String half = "GET /here HTTP/1.1\r\nHost: localhost\r\nNo colon\r\n\r\n";
    assertThat(sent(half)).startsWith("HTTP/1.1 400 ");
    handler.stop();
    assertStopping(sent(half));
  }

  @Test
  void an_interrupted_request_is_answered_as_retryable() throws IOException {
    assertStopping(sent("GET /interrupted HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  }
}
