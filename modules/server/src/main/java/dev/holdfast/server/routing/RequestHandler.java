package dev.holdfast.server.routing;

import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.auth.HostOriginPolicy;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.http.RequestObserver;
import dev.holdfast.server.http.SlowRequestTimeout;
import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The path of every request: check its headers, find its route, authenticate the caller, run the
 * route's action, send the answer. Whatever an action throws becomes an answer here.
 */
public final class RequestHandler implements Handler {
  public static final int MOST_HEADER_CHARS = 16 << 10;

  private static final String CLOSE = "close";

  /** What decides who calls, and what of. */
  private static final List<HeaderName> ONCE =
      List.of(
          HeaderNames.AUTHORIZATION,
          HeaderNames.HOST,
          HeaderNames.ORIGIN,
          HeaderNames.CONTENT_TYPE,
          HeaderNames.create("Idempotency-Key"));

  private static final Logger log = LoggerFactory.getLogger(RequestHandler.class);

  private final Router router;
  private final Authenticator authenticator;
  private final HostOriginPolicy originPolicy;
  private final SlowRequestTimeout slowRequests;
  private final AnswerCache cache;
  private final RequestObserver observer;
  private volatile boolean stopping;

  public RequestHandler(
      Router router,
      Authenticator authenticator,
      HostOriginPolicy originPolicy,
      SlowRequestTimeout slowRequests,
      AnswerCache cache,
      RequestObserver observer) {
    this.router = router;
    this.authenticator = authenticator;
    this.originPolicy = originPolicy;
    this.slowRequests = slowRequests;
    this.cache = cache;
    this.observer = observer;
  }

  /** Refuses every request from now on: what would answer them is about to be closed. */
  public void stop() {
    stopping = true;
  }

  public boolean isStopping() {
    return stopping;
  }

  @Override
  public void handle(ServerRequest request, ServerResponse response) {
    long start = System.nanoTime();
    String template = "unmatched";
    Answer answer;
    try {
      if (stopping) {
        throw Problem.stopping();
      }
      limitHeaders(request);
      mustNotRepeat(request);
      originPolicy.check(
          header(request, "Host"), header(request, "Origin"), request.localPeer().host());
      Router.Found found =
          router.find(request.prologue().method().text(), request.path().rawPath());
      template = found.route().template();
      mustAccept(request);
      answer = answered(request, found);
    } catch (Problem problem) {
      answer = problem.answer();
    }
    try {
      send(response, answer, request.prologue().method().text().equals(Router.HEAD));
    } finally {
      observer.answered(
          request.prologue().method().text(),
          template,
          answer.status(),
          Duration.ofNanos(System.nanoTime() - start));
    }
    if (isLast(request, answer)) {
      if (answer.stream() != null) {
        end(response);
      }
      // Otherwise the web server would read the rest of a body that cannot be read, and keep a
      // connection that the client wants to end.
      throw new CloseConnectionException("the last request of its connection");
    }
  }

  /** Sends the last chunk, without which the client takes the answer for cut off. */
  private static void end(ServerResponse response) {
    if (response instanceof RoutingResponse open) {
      try {
        open.commit();
      } catch (UncheckedIOException e) {
        log.debug("the client was gone before the end of the answer", e);
      }
    }
  }

  private static boolean isLast(ServerRequest request, Answer answer) {
    return CLOSE.equals(answer.headers().get("Connection"))
        || header(request, "Connection").filter(CLOSE::equalsIgnoreCase).isPresent();
  }

  private Answer answered(ServerRequest request, Router.Found found) {
    Route route = found.route();
    try {
      Call call = admitted(request, found);
      call.onlyKnownQueries();
      if (route.method().equals("GET") && isRead(route.guard())) {
        return cache.answer(call, route.action());
      }
      Answer answer = route.action().on(call);
      if (!route.method().equals("GET") && route.guard().equals(Guard.OPERATE)) {
        cache.clear();
      }
      return answer;
    } catch (Throwable thrown) {
      return ExceptionProblems.of(route, thrown).answer();
    }
  }

  private static boolean isRead(Guard guard) {
    return guard.equals(Guard.READ) || guard.equals(Guard.ANY_KEY);
  }

  private Call admitted(ServerRequest request, Router.Found found) {
    Optional<String> authorization = header(request, "Authorization");
    Authenticator.Shown shown =
        new Authenticator.Shown(
            authorization,
            Sessions.cookie(header(request, "Cookie"), header(request, "Host")),
            request.remotePeer().host());
    // Where no key is shown it is the browser that vouches for it, and it may be another's page.
    boolean byBrowser = shown.isByCookie() || header(request, "Origin").isPresent();
    if (byBrowser && authorization.isEmpty() && !found.route().method().equals("GET")) {
      originPolicy.checkPage(header(request, "Host"), header(request, "Origin"));
    }
    TaskTokens.Read token = null;
    Caller caller = Caller.OWNER;
    switch (found.route().guard()) {
      case Guard.Open open -> {}
      case Guard.AnyKey any -> caller = authenticator.caller(shown);
      case Guard.Needs(var permission) -> {
        caller = authenticator.caller(shown);
        if (!caller.role().may(permission)) {
          throw new Problem(
              403,
              "forbidden",
              "a key of role %s may not %s"
                  .formatted(caller.role().word(), permission.name().toLowerCase(Locale.ROOT)));
        }
      }
      case Guard.TaskToken task ->
          token = authenticator.token(authorization, found.values().getOrDefault("taskId", ""));
    }
    return new Call(request, slowRequests, found.route(), found.values(), shown, caller, token);
  }

  private static void limitHeaders(ServerRequest request) {
    int chars = 0;
    for (Header header : request.headers()) {
      chars += header.name().length() + header.values().length() + 4;
    }
    if (chars > MOST_HEADER_CHARS) {
      throw new Problem(
              431,
              "headers_too_large",
              "the headers are over the limit of %,d characters".formatted(MOST_HEADER_CHARS))
          .header("Connection", "close");
    }
  }

  /** Of two values a proxy may have checked the one, and the server would take the other. */
  private static void mustNotRepeat(ServerRequest request) {
    for (HeaderName name : ONCE) {
      if (request.headers().values(name).size() > 1) {
        throw Problem.badRequest("the header " + name.defaultCase() + " is given twice");
      }
    }
  }

  /** Refuses clients that accept none of the types that are answered. */
  private static void mustAccept(ServerRequest request) {
    Optional<String> accept = header(request, "Accept");
    if (accept.isPresent()) {
      String types = accept.get().toLowerCase(Locale.ROOT);
      if (!types.isBlank()
          && !types.contains("*/*")
          && !types.contains("application/")
          && !types.contains("text/")) {
        throw new Problem(406, "not_acceptable", "answers are JSON: Accept: application/json");
      }
    }
  }

  private static Optional<String> header(ServerRequest request, String name) {
    return request.headers().first(HeaderNames.create(name));
  }

  private static void send(ServerResponse response, Answer answer, boolean head) {
    try {
      response.status(answer.status());
      answer.headers().forEach((name, value) -> response.header(name, value));
      if (!answer.headers().containsKey("Cache-Control")) {
        response.header("Cache-Control", "no-store");
      }
      response.header("X-Content-Type-Options", "nosniff");
      Answer.Stream stream = answer.stream();
      if (head) {
        if (stream == null) {
          response.header("Content-Length", String.valueOf(answer.body().length));
        }
        // A HEAD request gets no stream, so its subscriber leaves.
        answer.wasNotSent();
        response.send();
      } else if (stream == null) {
        response.send(answer.body());
      } else {
        try (OutputStream out = response.outputStream()) {
          stream.writeTo(out);
        }
      }
    } catch (IOException | UncheckedIOException | IllegalStateException e) {
      log.debug("the client was gone before the answer was sent", e);
      answer.wasNotSent();
    }
  }
}
