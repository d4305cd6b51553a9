package dev.holdfast.server.api;

import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;

/** Runs: jobs that were enqueued under one run's id. */
public final class RunsApi {
  private static final int PAGE = 50;
  private static final int LARGEST_PAGE = 200;

  private final Queries queries;

  public RunsApi(Queries queries) {
    this.queries = queries;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/runs", Guard.READ, this::list).queries("limit", "cursor"),
        Route.get("/v1/runs/{id}", Guard.READ, this::show));
  }

  private Answer list(Call call) {
    return Answer.ok(
        queries.runs(
            call.caller().tenant(),
            call.query("cursor").map(JobFilterParameters::cursor).orElse(null),
            call.whole("limit", PAGE, 1, LARGEST_PAGE)));
  }

  private Answer show(Call call) {
    JobId run = call.id("id");
    return Answer.ok(
        queries
            .run(run, call.caller().tenant())
            .orElseThrow(() -> Problem.notFound("there is no run " + run)));
  }
}
