package dev.holdfast.client.operate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.JobRequest;
import dev.holdfast.contract.resource.JobRequests;
import dev.holdfast.contract.resource.Shaped;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Through a server. Jobs carry their ids from here, so that none is ever handed in twice. */
public final class HttpOperator implements Operator {
  private static final int PAGE = 200;

  private final OperatorCalls server;

  /**
   * @param key null for a server on this machine that has no keys yet
   */
  public HttpOperator(URI server, @Nullable String key) {
    this.server = new OperatorCalls(server, key);
  }

  @Override
  public List<Enqueued> enqueue(List<Job> jobs) {
    List<Enqueued> enqueued = new ArrayList<>();
    for (List<JobRequest> some : JobRequests.of(jobs)) {
      JsonNode answer = server.post("/v1/jobs", Map.of("jobs", some));
      enqueued.addAll(Shaped.list(answer.path("jobs"), Shaped::enqueued));
    }
    return enqueued;
  }

  @Override
  public Optional<JobStatus> find(JobId job) {
    OperatorCalls.Reply reply = server.send("GET", "/v1/jobs/" + job, null);
    return reply.status() == 404 ? Optional.empty() : Optional.of(Shaped.job(server.ok(reply)));
  }

  @Override
  public List<JobStatus> list(JobFilter filter) {
    List<JobStatus> jobs = new ArrayList<>();
    String cursor = filter.before() == null ? null : filter.before().toString();
    do {
      Map<String, String> query = new LinkedHashMap<>();
      query.put(
          "state", filter.states().stream().map(JobState::name).collect(Collectors.joining(",")));
      query.put("queue", orEmpty(filter.queue()));
      query.put("kind", orEmpty(filter.kind()));
      query.put("cursor", orEmpty(cursor));
      query.put("limit", Integer.toString(Math.min(PAGE, filter.limit() - jobs.size())));
      JsonNode page = server.get("/v1/jobs" + query(query));
      jobs.addAll(Shaped.list(page.path("jobs"), Shaped::job));
      cursor = page.hasNonNull("next") ? page.get("next").asText() : null;
    } while (cursor != null && jobs.size() < filter.limit());
    return jobs;
  }

  @Override
  public List<JobEvent> timeline(JobId job) {
    return Shaped.list(
        server.get("/v1/jobs/" + job + "/timeline").path("events"),
        event -> Shaped.event(job, event));
  }

  @Override
  public List<Attempt> attempts(JobId job) {
    return Shaped.list(
        server.get("/v1/jobs/" + job + "/attempts").path("attempts"), Shaped::attempt);
  }

  @Override
  public List<PublishedArtifact> artifacts(JobId job) {
    return Shaped.list(
        server.get("/v1/jobs/" + job + "/artifacts").path("artifacts"), Shaped::artifact);
  }

  @Override
  public LogTail log(JobId job, LogCursor after) {
    return Shaped.log(server.get("/v1/jobs/" + job + "/log?after=" + after));
  }

  @Override
  public List<StepStatus> steps(JobId job) {
    return Shaped.list(server.get("/v1/jobs/" + job + "/steps").path("steps"), Shaped::step);
  }

  @Override
  public Optional<StepStatus> step(JobId job, String step) {
    OperatorCalls.Reply reply =
        server.send("GET", "/v1/jobs/" + job + "/steps/" + encoded(step), null);
    return reply.status() == 404 ? Optional.empty() : Optional.of(Shaped.step(server.ok(reply)));
  }

  @Override
  public PendingCommand control(JobId job) {
    return Shaped.control(server.get("/v1/jobs/" + job).path("liveControl"));
  }

  @Override
  public JobCommand.Answer control(JobId job, JobCommand command) {
    ObjectNode request =
        Wire.object().put("action", command.action().text()).put("reason", command.reason());
    if (command.stepId() != null) {
      request.put("stepId", command.stepId());
    }
    OperatorCalls.Reply reply = server.send("POST", "/v1/jobs/" + job + "/control", request);
    return switch (reply.error()) {
      case "not_found" -> JobCommand.Answer.NO_SUCH_JOB;
      case "job_already_terminal" -> JobCommand.Answer.ALREADY_TERMINAL;
      case "job_not_running" -> JobCommand.Answer.NOT_RUNNING;
      case "no_such_step" -> JobCommand.Answer.NO_SUCH_STEP;
      case "step_not_reached" -> JobCommand.Answer.STEP_NOT_REACHED;
      case "step_done" -> JobCommand.Answer.STEP_DONE;
      case "job_not_taken_over" -> JobCommand.Answer.NOT_TAKEN_OVER;
      case "step_without_workspace" -> JobCommand.Answer.NO_WORKSPACE;
      default -> {
        server.ok(reply);
        yield JobCommand.Answer.ACCEPTED;
      }
    };
  }

  @Override
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason) {
    OperatorCalls.Reply reply =
        server.send(
            "POST",
            "/v1/jobs/" + job + "/cancel",
            Wire.object().put("reason", reason).put("cascade", cascade));
    if (reply.status() == 404) {
      return List.of();
    }
    if (reply.error().equals("job_already_terminal")) {
      return List.of(
          new Cancellation(
              job,
              JobState.valueOf(Shaped.text(reply.body(), "state")),
              Cancellation.Answer.ALREADY_TERMINAL));
    }
    return Shaped.list(server.ok(reply).path("jobs"), Shaped::cancellation);
  }

  @Override
  public Set<JobId> retry(List<JobId> jobs) {
    Set<JobId> retried = new LinkedHashSet<>();
    for (JobId job : jobs) {
      OperatorCalls.Reply reply = server.send("POST", "/v1/jobs/" + job + "/retry", null);
      boolean refused = reply.status() == 404 || reply.error().equals("job_not_retryable");
      if (!refused && !server.ok(reply).isMissingNode()) {
        retried.add(job);
      }
    }
    return retried;
  }

  @Override
  public List<QueueStatus> queues() {
    return Shaped.list(server.get("/v1/queues").path("queues"), Shaped::queue);
  }

  @Override
  public void pause(String queue) {
    server.post("/v1/queues/" + encoded(queue) + "/pause", Wire.object());
  }

  @Override
  public boolean resume(String queue) {
    boolean paused = status(queue).pausedAt() != null;
    server.post("/v1/queues/" + encoded(queue) + "/resume", Wire.object());
    return paused;
  }

  private QueueStatus status(String queue) {
    return Shaped.queue(server.get("/v1/queues/" + encoded(queue)));
  }

  @Override
  public void limit(String queue, @Nullable Integer maxRunning) {
    QueueStatus before = status(queue);
    limits(queue, maxRunning, before.rateLimit(), before.rateSpan());
  }

  @Override
  public void rate(String queue, int starts, Duration span) {
    limits(queue, status(queue).maxRunning(), starts, span);
  }

  @Override
  public void liftRate(String queue) {
    limits(queue, status(queue).maxRunning(), null, null);
  }

  /** All limits at once: what is not given is lifted. */
  private void limits(
      String queue,
      @Nullable Integer maxRunning,
      @Nullable Integer starts,
      @Nullable Duration span) {
    ObjectNode limits = Wire.object();
    if (maxRunning != null) {
      limits.put("maxRunning", maxRunning);
    }
    if (starts != null && span != null) {
      limits.putObject("rate").put("starts", starts).put("perMs", span.toMillis());
    }
    server.put("/v1/queues/" + encoded(queue) + "/limits", limits);
  }

  @Override
  public List<ScheduleStatus> schedules() {
    return Shaped.list(server.get("/v1/schedules").path("schedules"), Shaped::schedule);
  }

  @Override
  public void schedule(Schedule schedule) {
    Job job = schedule.job();
    ObjectNode node =
        Wire.object()
            .put("cron", schedule.cron().toString())
            .put("zone", schedule.zone().getId())
            .put("kind", job.kind())
            .put("queue", job.queue())
            .put("priority", job.priority())
            .put("maxAttempts", job.maxAttempts())
            .put("maxCrashes", job.maxCrashes())
            .put("missed", schedule.missed().name())
            .put("overlap", schedule.overlap());
    if (job.timeout() != null) {
      node.put("timeoutMs", job.timeout().toMillis());
    }
    node.set("payload", Wire.tree(JobRequests.payload(job)));
    server.put("/v1/schedules/" + encoded(schedule.name()), node);
  }

  @Override
  public boolean pauseSchedule(String name) {
    return change(name, "pause", false);
  }

  @Override
  public boolean resumeSchedule(String name) {
    return change(name, "resume", true);
  }

  /** True when the schedule was there, and paused or not as it had to be. */
  private boolean change(String name, String verb, boolean whenPaused) {
    OperatorCalls.Reply before = server.send("GET", "/v1/schedules/" + encoded(name), null);
    if (before.status() == 404) {
      return false;
    }
    boolean paused = server.ok(before).hasNonNull("pausedAt");
    server.post("/v1/schedules/" + encoded(name) + "/" + verb, Wire.object());
    return paused == whenPaused;
  }

  @Override
  public boolean removeSchedule(String name) {
    return server.delete("/v1/schedules/" + encoded(name));
  }

  @Override
  public Statistics statistics() {
    return Shaped.statistics(server.get("/v1/statistics"));
  }

  @Override
  public List<ApiKey> keys() {
    return Shaped.list(server.get("/v1/keys").path("keys"), Shaped::key);
  }

  @Override
  public NewKey createKey(String name, Role role, String tenant, @Nullable Duration lifetime) {
    ObjectNode request =
        Wire.object().put("name", name).put("role", role.word()).put("tenant", tenant);
    if (lifetime != null) {
      request.put("expiresInMs", lifetime.toMillis());
    }
    return made(server.post("/v1/keys", request));
  }

  @Override
  public boolean revokeKey(String id) {
    return server.delete("/v1/keys/" + encoded(id));
  }

  @Override
  public Optional<NewKey> rotateKey(String id, Duration overlap) {
    OperatorCalls.Reply reply =
        server.send(
            "POST",
            "/v1/keys/" + encoded(id) + "/rotate",
            Wire.object().put("overlapMs", overlap.toMillis()));
    return reply.status() == 404 ? Optional.empty() : Optional.of(made(server.ok(reply)));
  }

  private static NewKey made(JsonNode answer) {
    return new NewKey(Shaped.text(answer, "id"), Shaped.text(answer, "key"));
  }

  @Override
  public void rotateSigningKey() {
    server.post("/v1/signing-keys/rotate", Wire.object());
  }

  @Override
  public Workers workers() {
    JsonNode answer = server.get("/v1/workers");
    return new Workers(
        Shaped.instantOrNull(answer, "pausedSince"),
        Shaped.list(answer.path("workers"), Shaped::worker));
  }

  @Override
  public List<WorkerCommand> order(WorkerCommand.Draft draft) {
    ObjectNode request = Wire.object().put("reason", draft.reason());
    if (draft.supervisor() != null) {
      request.put("supervisor", draft.supervisor());
    }
    String path = "/v1/workers/" + encoded(draft.component()) + "/" + draft.action().text();
    return Shaped.list(server.post(path, request).path("orders"), Shaped::order);
  }

  @Override
  public void pauseAll(String reason) {
    server.post("/v1/workers/pause", Wire.object().put("reason", reason));
  }

  @Override
  public Resumed resumeAll(String requestedBy, String reason) {
    JsonNode answer = server.post("/v1/workers/resume", Wire.object().put("reason", reason));
    return new Resumed(
        answer.path("wasPaused").asBoolean(), Shaped.list(answer.path("orders"), Shaped::order));
  }

  @Override
  public Health health() {
    server.get("/ready");
    JsonNode info = server.get("/v1/info");
    JsonNode database = info.path("database");
    return new Health(
        "%s, holdfast %s on PostgreSQL %s, schema %s"
            .formatted(
                server,
                info.path("version").asText(),
                database.path("version").asText(),
                database.path("schemaVersion").asText()),
        workers(),
        Shaped.list(
            info.path("problems"),
            each ->
                new Health.Trouble(
                    Shaped.text(each, "code"),
                    Shaped.text(each, "what"),
                    Shaped.text(each, "doNextCommand"))));
  }

  private static String query(Map<String, String> values) {
    return values.entrySet().stream()
        .filter(each -> !each.getValue().isEmpty())
        .map(each -> each.getKey() + "=" + encoded(each.getValue()))
        .collect(Collectors.joining("&", "?", ""));
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  public void close() {
    server.close();
  }
}
