package dev.holdfast.client.operate;

import static dev.holdfast.client.http.ServerAddress.encoded;

import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.WorkerOperator;
import dev.holdfast.contract.resource.WorkerLogResource;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.ProcessExit;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Workers, through a server. */
final class HttpWorkers implements WorkerOperator {
  private final OperatorCalls server;

  HttpWorkers(OperatorCalls server) {
    this.server = server;
  }

  private static String path(String component) {
    return "/v1/workers/" + encoded(component);
  }

  @Override
  public Operator.Workers list() {
    return server.get("/v1/workers", Operator.Workers.class);
  }

  @Override
  public Optional<Instant> pausedAt() {
    return Optional.ofNullable(list().workersPausedAt());
  }

  @Override
  public List<ProcessExit> exits(String component, @Nullable String supervisor) {
    String query = supervisor == null ? "" : "?supervisor=" + encoded(supervisor);
    return server.list(path(component) + "/exits" + query, "exits", ProcessExit.class);
  }

  @Override
  public LogTail log(String component, String supervisor, LogCursor after) {
    return server
        .get(
            path(component) + "/log?supervisor=" + encoded(supervisor) + "&cursor=" + after,
            WorkerLogResource.class)
        .tail();
  }

  private record CommandRequest(@Nullable String supervisor, String reason) {}

  @Override
  public List<WorkerCommand> command(
      String component, @Nullable String supervisor, WorkerCommand.Action action, String reason) {
    return server.post(
        path(component) + "/" + action.text(),
        new CommandRequest(supervisor, reason),
        reply -> reply.list("commands", WorkerCommand.class));
  }

  @Override
  public void pauseAll(String reason) {
    server.post("/v1/workers/pause", Map.of("reason", reason));
  }

  @Override
  public Resumed resumeAll(String reason) {
    return server.post("/v1/workers/resume", Map.of("reason", reason), Resumed.class);
  }
}
