package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.PendingCommandResource;
import dev.holdfast.contract.resource.StepResource;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.JobQueries;
import dev.holdfast.queue.JobQueue;
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
  private final JobQueries queries;

  public CommandsApi(JobQueue queue, JobQueries queries) {
    this.queue = queue;
    this.queries = queries;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/jobs/{id}/steps/{stepId}", Guard.READ, this::step),
        Route.get("/v1/jobs/{id}/steps/{stepId}/patch", Guard.READ, this::patch),
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
    String name = step.replace('/', '-').replace(':', '-') + ".patch";
    return Answer.text(200, "text/x-patch", patch.bytes())
        .header("Content-Disposition", "attachment; filename=\"" + name + "\"");
  }

  private Answer command(Call call) {
    CommandRequest request = call.body(CommandRequest.class);
    JobId id = call.id("id");
    JobCommand command = request.command(call.caller());
    JobCommand.Answer answer = queue.command(id, command, call.caller().tenant());
    String step = "step '" + request.stepId() + "'";
    switch (answer) {
      case ACCEPTED -> {}
      case NO_SUCH_JOB -> throw JobsApi.unknown(id);
      case ALREADY_TERMINAL -> {
        JobState state = JobsApi.job(queries, call).state();
        throw new Problem(
                409,
                "job_already_terminal",
                state == JobState.SUCCEEDED
                    ? "the job has ended well; resume_from_step sends it back to one of its steps"
                    : "the job has already ended: %s; put it back with POST /v1/jobs/%s/retry, or send it back to one of its steps with resume_from_step"
                        .formatted(state, id))
            .with("state", state.name());
      }
      case NOT_RUNNING ->
          throw new Problem(
              409,
              "job_not_running",
              "no worker runs the job, so there is nothing to take over: pause it instead");
      case NO_SUCH_STEP ->
          throw new Problem(
              404,
              "no_such_step",
              "the job has no %s: GET /v1/jobs/%s/steps lists those that have begun"
                  .formatted(step, id));
      case STEP_NOT_REACHED ->
          throw new Problem(
              409,
              "step_not_reached",
              step + " has steps before it that are not done: name the first of those");
      case STEP_DONE ->
          throw new Problem(
              409,
              "step_done",
              step + " is done: to do it and all after it again, ask for resume_from_step");
      case NOT_TAKEN_OVER ->
          throw new Problem(
              409,
              "job_not_taken_over",
              "nobody has taken the job over, so its worker decides whether "
                  + step
                  + " is done: ask for takeover first");
      case NO_WORKSPACE ->
          throw new Problem(
              409,
              "step_without_workspace",
              step + " is code: what it leaves is its result, which nobody else can make");
    }
    return Answer.ok(
        PendingCommandResource.of(queries.pendingCommand(id), queries.stepsToRepeat(id)));
  }
}
