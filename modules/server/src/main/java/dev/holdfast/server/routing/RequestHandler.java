package dev.holdfast.server.routing;

import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.auth.HostOriginPolicy;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.http.RequestObserver;
import dev.holdfast.server.http.SlowRequestTimeout;
import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every request comes through here: who it is for, who sends it, what becomes of it. Whatever goes
 * wrong behind it is turned into an answer here and nowhere else.
 */
public final class RequestHandler implements Handler {
  public static final int MOST_HEADER_CHARS = 16 << 10;

  private static final String CLOSE = "close";

  private static final Logger log = LoggerFactory.getLogger(RequestHandler.class);

  private final Router router;
  private final Authenticator gate;
  private final HostOriginPolicy neighbours;
  private final SlowRequestTimeout patience;
  private final SharedAnswers shared;
  private final RequestObserver observer;

  public RequestHandler(
      Router router,
      Authenticator gate,
      HostOriginPolicy neighbours,
      SlowRequestTimeout patience,
      SharedAnswers shared,
      RequestObserver observer) {
    this.router = router;
    this.gate = gate;
    this.neighbours = neighbours;
    this.patience = patience;
    this.shared = shared;
    this.observer = observer;
  }

  @Override
  public void handle(ServerRequest request, ServerResponse response) {
    long start = System.nanoTime();
    String template = "unmatched";
    Answer answer;
    try {
      modest(request);
      neighbours.check(
          header(request, "Host"), header(request, "Origin"), request.localPeer().host());
      Router.Found found =
          router.find(request.prologue().method().text(), request.path().rawPath());
      template = found.route().template();
      acceptable(request);
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
      // The web server would first read what is left of a body that cannot be read, and keeps
      // connections that the other side wants ended.
      throw new CloseConnectionException("the last request of its connection");
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
      if (route.method().equals("GET") && route.guard().equals(Guard.READ)) {
        return shared.answer(call, route.action());
      }
      Answer answer = route.action().on(call);
      if (!route.method().equals("GET") && route.guard().equals(Guard.OPERATE)) {
        shared.forget();
      }
      return answer;
    } catch (Throwable thrown) {
      return problem(route, thrown).answer();
    }
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
      neighbours.checkPage(header(request, "Host"), header(request, "Origin"));
    }
    TaskTokens.Read token = null;
    Caller caller = Caller.OWNER;
    switch (found.route().guard()) {
      case Guard.Open open -> {}
      case Guard.Needs(var permission) -> {
        caller = gate.caller(shown);
        if (!caller.role().may(permission)) {
          throw new Problem(
              403,
              "forbidden",
              "a key of role %s may not %s"
                  .formatted(caller.role().word(), permission.name().toLowerCase(Locale.ROOT)));
        }
      }
      case Guard.TaskToken task ->
          token = gate.token(authorization, found.values().getOrDefault("taskId", ""));
    }
    return new Call(request, patience, found.route(), found.values(), shown, caller, token);
  }

  private static void modest(ServerRequest request) {
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

  /** Nearly everything here is JSON, so whoever takes neither that nor anything is refused. */
  private static void acceptable(ServerRequest request) {
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

  private static Problem problem(Route route, Throwable thrown) {
    return switch (thrown) {
      case Problem problem -> problem;
      case WireException wrong -> wrong(wrong);
      case RefusedException refused -> refused(refused);
      case DatabaseException away -> away(away);
      default -> {
        log.error("{} {} failed", route.method(), route.template(), thrown);
        yield new Problem(500, "internal", "this should not have happened; the log has more");
      }
    };
  }

  private static Problem wrong(WireException wrong) {
    String message = String.valueOf(wrong.getMessage());
    return switch (wrong.kind()) {
      case MALFORMED -> new Problem(400, "malformed_json", message);
      case TOO_LARGE -> new Problem(413, "json_too_large", message);
      case UNKNOWN_FIELD -> new Problem(422, "unknown_field", message);
      case MISSING_FIELD -> new Problem(422, "missing_field", message);
      case WRONG_VALUE -> new Problem(422, "invalid_value", message);
    };
  }

  public static Problem refused(RefusedException refused) {
    Refusal reason = refused.refusal();
    int status =
        switch (reason) {
          case BAD_ID, BAD_TRACEPARENT -> 400;
          case ID_TAKEN -> 409;
          case PAYLOAD_TOO_LARGE, RESULT_TOO_LARGE, EVENT_TOO_LARGE, TOO_MANY_JOBS -> 413;
          default -> 422;
        };
    return new Problem(
        status, reason.name().toLowerCase(Locale.ROOT), String.valueOf(refused.getMessage()));
  }

  private static Problem away(DatabaseException away) {
    if (away.reason() == DatabaseException.Reason.UNIQUE_KEY_HELD) {
      return new Problem(409, "unique_key_held", String.valueOf(away.getMessage()))
          .header("Retry-After", "1");
    }
    if (away.isOutage()) {
      log.debug("a request could not be done: {}", away.getMessage());
    } else {
      log.warn("a request could not be done: {}", away.getMessage());
    }
    if (away.isBusy()) {
      return new Problem(503, "database_busy", "others hold what is needed for this: try again")
          .header("Retry-After", "1");
    }
    return new Problem(503, "database_away", "the database cannot be reached: try again")
        .header("Retry-After", "1");
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
        // Nobody reads a stream that has no body; whoever joined it leaves.
        answer.wasNotSent();
        response.send();
      } else if (stream == null) {
        response.send(answer.body());
      } else {
        try (OutputStream out = response.outputStream()) {
          stream.writeTo(out);
        }
      }
    } catch (IOException | UncheckedIOException | IllegalStateException gone) {
      log.debug("nobody took the answer", gone);
      answer.wasNotSent();
    }
  }
}
