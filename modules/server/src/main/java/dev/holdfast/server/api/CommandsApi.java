package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.PendingCommandResource;
import dev.holdfast.contract.resource.StepResource;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Steps of jobs, and the commands of operators for them. */
public final class CommandsApi {
  private final JobQueue queue;
  private final Queries queries;

  public CommandsApi(JobQueue queue, Queries queries) {
    this.queue = queue;
    this.queries = queries;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/jobs/{id}/steps/{stepId}", Guard.READ, this::step),
        Route.get("/v1/jobs/{id}/steps/{stepId}/patch", Guard.READ, this::patch),
        Route.get("/v1/jobs/{id}/patch", Guard.READ, this::patches),
        Route.post("/v1/jobs/{id}/control", Guard.OPERATE, this::command).maxBody(Route.SMALL));
  }

  /** The action, the step it is for, and the reason. */
  record CommandRequest(String action, @Nullable String stepId, @Nullable String reason) {
    CommandRequest {
      Wire.present("action", action);
      if (stepId != null) {
        Limits.stepId(stepId);
      }
      OperateApi.checkReason(reason);
    }

    JobCommand command(Caller caller) {
      return new JobCommand(
          CommandAction.of(action), stepId, caller.name(), OperateApi.why(reason));
    }
  }

  private Answer step(Call call) {
    String step = Limits.stepId(call.value("stepId"));
    JobId job = JobsApi.job(queries, call).id();
    return Answer.ok(
        StepResource.of(
            queries
                .step(job, step)
                .orElseThrow(() -> Problem.notFound("step '" + step + "' has not begun"))));
  }

  private Answer patch(Call call) {
    String step = Limits.stepId(call.value("stepId"));
    JobId job = JobsApi.job(queries, call).id();
    Patch patch =
        queries
            .patch(job, step)
            .orElseThrow(() -> Problem.notFound("step '" + step + "' has left no patch"));
    // A step's id may contain two characters that have a meaning in a path.
    return download(patch, step.replace('/', '-').replace(':', '-'));
  }

  private Answer patches(Call call) {
    JobId job = JobsApi.job(queries, call).id();
    Patch all =
        queries
            .patches(job)
            .orElseThrow(() -> Problem.notFound("no step of job " + job + " has left a patch"));
    return download(all, job.toString());
  }

  private static Answer download(Patch patch, String name) {
    return Answer.text(200, "text/x-patch", patch.bytes())
        .header("Content-Disposition", "attachment; filename=\"" + name + ".patch\"");
  }

  private Answer command(Call call) {
    CommandRequest request = call.body(CommandRequest.class);
    JobId id = call.id("id");
    JobCommand command = request.command(call.caller());
    JobCommand.Answer answer = queue.command(id, command, call.caller().tenant());
    if (answer != JobCommand.Answer.ACCEPTED) {
      throw refused(call, id, command, answer);
    }
    return Answer.ok(
        PendingCommandResource.of(queries.pendingCommand(id), queries.stepsToRepeat(id)));
  }

  private Problem refused(Call call, JobId id, JobCommand command, JobCommand.Answer answer) {
    String message = command.refusal(answer);
    return switch (answer) {
      case ACCEPTED -> throw new IllegalArgumentException(message);
      case NO_SUCH_JOB -> JobsApi.unknown(id);
      case ALREADY_TERMINAL -> ended(JobsApi.job(queries, call), message);
      case NO_SUCH_STEP ->
          new Problem(
              404,
              "no_such_step",
              message + ": GET /v1/jobs/%s/steps lists those that have started".formatted(id));
      case NOT_RUNNING -> new Problem(409, "job_not_running", message);
      case NO_STEPS -> new Problem(409, "job_without_steps", message);
      case STEP_NOT_REACHED -> new Problem(409, "step_not_reached", message);
      case STEP_DONE -> new Problem(409, "step_done", message);
      case NOT_TAKEN_OVER -> new Problem(409, "job_not_taken_over", message);
      case NO_WORKSPACE -> new Problem(409, "step_without_workspace", message);
    };
  }

  private static Problem ended(JobStatus job, String message) {
    String hint =
        JobState.RETRYABLE.contains(job.state())
            ? "POST /v1/jobs/%s/retry requeues it, resume_from_step from one of its steps"
                .formatted(job.id())
            : "resume_from_step requeues it from one of its steps";
    return new Problem(409, "job_already_terminal", message + ": " + job.state() + "; " + hint)
        .with("state", job.state().name());
  }
}
