package dev.holdfast.server.routing;

import dev.holdfast.contract.json.WireException;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.server.http.Problem;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a request is answered when its action throws. */
public final class ExceptionProblems {
  private static final Logger log = LoggerFactory.getLogger(ExceptionProblems.class);

  private ExceptionProblems() {}

  static Problem of(Route route, Throwable thrown) {
    return switch (thrown) {
      case Problem problem -> problem;
      case WireException wrong -> malformed(wrong);
      case RefusedException refused -> refused(refused);
      case DatabaseException away -> database(away);
      default -> {
        log.error("{} {} failed", route.method(), route.template(), thrown);
        yield new Problem(500, "internal", "an internal error, which is in the log of the server");
      }
    };
  }

  private static Problem malformed(WireException wrong) {
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

  private static Problem database(DatabaseException away) {
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
      return new Problem(
              503, "database_busy", "another transaction holds a lock that this needs: try again")
          .header("Retry-After", "1");
    }
    return new Problem(503, "database_unavailable", "the database cannot be reached: try again")
        .header("Retry-After", "1");
  }
}
