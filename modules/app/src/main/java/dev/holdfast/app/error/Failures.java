package dev.holdfast.app.error;

import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.client.http.KeyRefusedException;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.embedded.EmbeddedPostgresException;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.server.config.ServerStartException;
import dev.holdfast.supervisor.SupervisorRunsException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.io.PrintWriter;
import java.io.StringWriter;

/** Turns what was thrown into one line and an exit code. */
public final class Failures {
  private Failures() {}

  /** Says it and returns what to end with. */
  public static int report(Exception thrown) {
    Terminal.error("holdfast: " + message(thrown));
    if (System.getenv("HOLDFAST_DEBUG") != null) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      Terminal.error(trace.toString());
    }
    return exitCode(thrown);
  }

  public static int exitCode(Throwable thrown) {
    return switch (thrown) {
      case CommandException command -> command.exitCode();
      case RefusedException refused -> ExitCode.REFUSED;
      case WireException wrong -> ExitCode.REFUSED;
      case EmbeddedPostgresException embedded -> ExitCode.LOCAL_ERROR;
      case SourceUnavailableException server -> ExitCode.DATABASE_AWAY;
      case SupervisorRunsException runs -> ExitCode.REFUSED;
      case KeyRefusedException key -> ExitCode.CONFIGURATION;
      case OperatorException operator ->
          switch (operator.reason()) {
            case AWAY -> ExitCode.DATABASE_AWAY;
            case NOT_ALLOWED, FORBIDDEN -> ExitCode.CONFIGURATION;
            case NOT_FOUND, NO_SUCH_STEP -> ExitCode.NOT_FOUND;
            case BROKEN -> ExitCode.UNEXPECTED;
            case REFUSED,
                INVALID_VALUE,
                JOB_RUNNING,
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
                WORKER_FAILED ->
                ExitCode.REFUSED;
          };
      case ServerStartException server ->
          switch (server.reason()) {
            case PORT_TAKEN -> ExitCode.LOCAL_ERROR;
            case NO_KEYS, TLS, CONFIGURATION -> ExitCode.CONFIGURATION;
          };
      case DatabaseException database ->
          switch (database.reason()) {
            case UNAVAILABLE, INTERRUPTED -> ExitCode.DATABASE_AWAY;
            case UNIQUE_KEY_HELD -> ExitCode.REFUSED;
            case LOGIN_REFUSED,
                NOT_ALLOWED,
                READ_ONLY,
                TOO_OLD,
                NOT_DURABLE,
                SCHEMA_MISSING,
                SCHEMA_OLD,
                SCHEMA_NEWER ->
                ExitCode.DATABASE_UNFIT;
            case POOL_TOO_SMALL -> ExitCode.CONFIGURATION;
            case OTHER -> ExitCode.UNEXPECTED;
          };
      default -> ExitCode.UNEXPECTED;
    };
  }

  static String message(Throwable thrown) {
    String text = thrown.getMessage();
    if (exitCode(thrown) == ExitCode.UNEXPECTED) {
      return "unexpected: "
          + Terminal.oneLine(String.valueOf(thrown))
          + " (HOLDFAST_DEBUG=1 shows more)";
    }
    return text == null ? thrown.getClass().getSimpleName() : Terminal.oneLine(text);
  }
}
