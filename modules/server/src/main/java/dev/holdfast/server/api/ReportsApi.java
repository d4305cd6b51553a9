package dev.holdfast.server.api;

import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Many jobs together: runs, groups of failures, how many there are and were. */
public final class ReportsApi {
  private static final int RUNS = 50;
  private static final int MOST_RUNS = 200;
  private static final int GROUPS = 100;
  private static final int MOST_GROUPS = 500;
  private static final int DEFAULT_MINUTES = 15;

  private final Operators operators;

  public ReportsApi(Operators operators) {
    this.operators = operators;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/runs", Guard.READ, this::runs).queries("limit", "cursor"),
        Route.get("/v1/runs/{id}", Guard.READ, this::run),
        Route.get("/v1/failures", Guard.READ, this::failures).queries("limit"),
        Route.get("/v1/statistics", Guard.READ, this::statistics),
        Route.get("/v1/history", Guard.READ, this::history).queries("minutes", "queue", "kind"));
  }

  private Answer runs(Call call) {
    @Nullable JobCursor before = call.query("cursor").map(JobsApi::cursor).orElse(null);
    int most = call.whole("limit", RUNS, 1, MOST_RUNS);
    return Answer.ok(operators.of(call).jobs().runs(before, most));
  }

  private Answer run(Call call) {
    JobId run = call.id("id");
    return Answer.ok(
        operators
            .of(call)
            .jobs()
            .run(run)
            .orElseThrow(() -> Problem.notFound("there is no run " + run)));
  }

  private Answer failures(Call call) {
    return Answer.ok(
        operators.of(call).jobs().failures(call.whole("limit", GROUPS, 1, MOST_GROUPS)));
  }

  private Answer statistics(Call call) {
    return Answer.ok(operators.of(call).jobs().statistics());
  }

  private Answer history(Call call) {
    int minutes = call.whole("minutes", DEFAULT_MINUTES, 1, (int) JobHistory.LONGEST.toMinutes());
    JobHistory.Query query =
        new JobHistory.Query(
            Duration.ofMinutes(minutes),
            call.query("queue").map(Limits::queue).orElse(null),
            call.query("kind").map(Limits::kind).orElse(null),
            Tenant.ANY);
    return Answer.ok(operators.of(call).jobs().history(query));
  }
}
