package dev.holdfast.server.routing;

import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.server.http.Problem;
import java.sql.SQLException;
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
      case OperatorException refused -> refused(refused, "");
      case DatabaseException database -> database(route, database);
      // Only the end of the web server interrupts the thread of a request.
      case InterruptedException stopping -> Problem.stopping();
      default -> {
        log.error("{} {} failed", route.method(), route.template(), thrown);
        yield internal();
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

  /**
   * @param hint what to do instead, after the message
   */
  public static Problem refused(OperatorException refused, String hint) {
    Problem problem =
        new Problem(status(refused.reason()), refused.reason().code(), refused.getMessage() + hint);
    refused.state().ifPresent(state -> problem.with("state", state.name()));
    return problem;
  }

  private static int status(OperatorException.Reason reason) {
    return switch (reason) {
      case FORBIDDEN -> 403;
      case NOT_FOUND, NO_SUCH_STEP -> 404;
      case JOB_RUNNING,
          JOB_AWAITED,
          JOB_ALREADY_TERMINAL,
          JOB_CONTINUED,
          JOB_NOT_RETRYABLE,
          JOB_NOT_RUNNING,
          JOB_WITHOUT_STEPS,
          JOB_NOT_TAKEN_OVER,
          STEP_NOT_REACHED,
          STEP_DONE,
          STEP_WITHOUT_WORKSPACE,
          NOT_ASKED,
          MAILBOX_FULL,
          CHILDREN_NOT_THERE,
          FORK_TOO_LARGE,
          PAYLOAD_LOST,
          KEY_REUSED,
          SUPERVISOR_SILENT,
          WORKER_STOPPED,
          WORKER_FAILED,
          REFUSED ->
          409;
      case INVALID_VALUE -> 422;
      // Only a client of a server says so.
      case AWAY, NOT_ALLOWED, BROKEN -> 500;
    };
  }

  private static Problem internal() {
    return new Problem(500, "internal", "an internal error, which is in the log of the server");
  }

  /** 503 tells a client to send the request again, so only transient errors are answered so. */
  private static Problem database(Route route, DatabaseException thrown) {
    return switch (thrown.reason()) {
      case UNIQUE_KEY_HELD ->
          new Problem(409, "unique_key_held", String.valueOf(thrown.getMessage()))
              .header("Retry-After", "1");
      case UNAVAILABLE, LOGIN_REFUSED -> unavailable(thrown);
      // Only the end of the web server interrupts the thread of a request.
      case INTERRUPTED -> Problem.stopping();
      case NOT_ALLOWED,
          READ_ONLY,
          POOL_TOO_SMALL,
          TOO_OLD,
          NOT_DURABLE,
          SCHEMA_MISSING,
          SCHEMA_OLD,
          SCHEMA_NEWER,
          OTHER -> {
        log.error(
            "{} {} failed: PostgreSQL refused a statement with SQLSTATE {}",
            route.method(),
            route.template(),
            thrown.getCause() instanceof SQLException refused ? refused.getSQLState() : "none",
            thrown);
        yield internal();
      }
    };
  }

  private static Problem unavailable(DatabaseException thrown) {
    if (thrown.isOutage()) {
      log.debug("a request failed: {}", thrown.getMessage());
    } else {
      log.warn("a request failed: {}", thrown.getMessage());
    }
    Problem problem =
        thrown.isBusy()
            ? new Problem(
                503, "database_busy", "another transaction holds a lock that this needs: try again")
            : new Problem(503, "database_unavailable", "the database cannot be reached: try again");
    return problem.header("Retry-After", "1");
  }
}
