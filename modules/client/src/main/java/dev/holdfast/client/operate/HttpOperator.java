package dev.holdfast.client.operate;

import static dev.holdfast.client.http.ServerAddress.encoded;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.resource.EnqueuedResource;
import dev.holdfast.contract.resource.HistoryResource;
import dev.holdfast.contract.resource.InfoResource;
import dev.holdfast.contract.resource.KeyResource;
import dev.holdfast.contract.resource.QueueResource;
import dev.holdfast.contract.resource.ScheduleRequest;
import dev.holdfast.contract.resource.ScheduleResource;
import dev.holdfast.contract.resource.StatisticsResource;
import dev.holdfast.contract.resource.WorkerCommandResource;
import dev.holdfast.contract.resource.WorkerResource;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Through a server. Jobs get their ids here: one that is sent twice is enqueued once. */
public final class HttpOperator extends HttpJobOperator implements Operator {
  /**
   * @param key null for a server on this machine that has no keys yet
   */
  public HttpOperator(URI server, @Nullable String key) {
    super(new OperatorCalls(server, key));
  }

  @Override
  public List<QueueStatus> queues() {
    return server.get("/v1/queues", QueueResource.Queues.class).queues().stream()
        .map(QueueResource::status)
        .toList();
  }

  @Override
  public JobHistory history(JobHistory.Query query) {
    StringBuilder path = new StringBuilder("/v1/history?minutes=");
    path.append(Math.max(1, query.span().toMinutes()));
    if (query.queue() != null) {
      path.append("&queue=").append(encoded(query.queue()));
    }
    if (query.kind() != null) {
      path.append("&kind=").append(encoded(query.kind()));
    }
    return server.get(path.toString(), HistoryResource.class).history();
  }

  @Override
  public void pause(String queue, Pause.Draft pause) {
    server.post(queuePath(queue) + "/pause", why(pause));
  }

  /** The server knows by whom. */
  private static Map<String, String> why(Pause.Draft pause) {
    return pause.reason() == null ? NOTHING : Map.of("reason", pause.reason());
  }

  @Override
  public Map<String, Pause> pauses() {
    Map<String, Pause> pauses = new HashMap<>();
    for (QueueResource each : server.get("/v1/queues", QueueResource.Queues.class).queues()) {
      QueueResource.Paused paused = each.pause();
      if (paused != null) {
        pauses.put(each.name(), paused.pause());
      }
    }
    return pauses;
  }

  @Override
  public boolean resume(String queue) {
    boolean paused = queue(queue).pausedAt() != null;
    server.post(queuePath(queue) + "/resume", NOTHING);
    return paused;
  }

  @Override
  public QueueStatus queue(String name) {
    return server.get(queuePath(name), QueueResource.class).status();
  }

  @Override
  public void limit(String queue, @Nullable Integer maxRunning) {
    QueueStatus before = queue(queue);
    limits(queue, maxRunning, before.rateLimit());
  }

  @Override
  public void rate(String queue, int starts, Duration period) {
    limits(queue, queue(queue).maxRunning(), new RateLimit(starts, period));
  }

  @Override
  public void liftRate(String queue) {
    limits(queue, queue(queue).maxRunning(), null);
  }

  /** All limits at once: one that is absent is lifted. */
  private void limits(String queue, @Nullable Integer maxRunning, @Nullable RateLimit limit) {
    QueueResource.Rate rate = limit == null ? null : QueueResource.Rate.of(limit);
    server.put(queuePath(queue) + "/limits", new QueueResource.Limits(maxRunning, rate));
  }

  @Override
  public List<ScheduleStatus> schedules() {
    return server.get("/v1/schedules", ScheduleResource.Schedules.class).schedules().stream()
        .map(ScheduleResource::status)
        .toList();
  }

  @Override
  public void schedule(Schedule schedule) {
    server.put(schedulePath(schedule.name()), ScheduleRequest.of(schedule));
  }

  @Override
  public boolean pauseSchedule(String name, Pause.Draft pause) {
    return change(name, "pause", why(pause), false);
  }

  @Override
  public Map<String, Pause> schedulePauses() {
    Map<String, Pause> pauses = new HashMap<>();
    for (ScheduleResource each :
        server.get("/v1/schedules", ScheduleResource.Schedules.class).schedules()) {
      QueueResource.Paused paused = each.pause();
      if (paused != null) {
        pauses.put(each.name(), paused.pause());
      }
    }
    return pauses;
  }

  @Override
  public boolean resumeSchedule(String name) {
    return change(name, "resume", NOTHING, true);
  }

  @Override
  public Optional<Enqueued> runSchedule(String name) {
    return server.post(
        schedulePath(name) + "/run",
        NOTHING,
        reply ->
            OperatorCalls.isNotFound(reply)
                ? Optional.empty()
                : Optional.of(reply.read(EnqueuedResource.class).enqueued()));
  }

  /** True when the schedule was there, and paused or not as it had to be. */
  private boolean change(String name, String verb, Map<String, String> why, boolean whenPaused) {
    Optional<ScheduleResource> before = server.find(schedulePath(name), ScheduleResource.class);
    before.ifPresent(found -> server.post(schedulePath(name) + "/" + verb, why));
    return before.map(found -> (found.pausedAt() != null) == whenPaused).orElse(false);
  }

  @Override
  public boolean removeSchedule(String name) {
    return server.delete(schedulePath(name));
  }

  @Override
  public Statistics statistics() {
    return server.get("/v1/statistics", StatisticsResource.class).statistics();
  }

  @Override
  public List<ApiKey> keys() {
    return server.get("/v1/keys", KeyResource.Keys.class).keys().stream()
        .map(KeyResource::key)
        .toList();
  }

  private record KeyRequest(
      String name, String role, @Nullable String tenant, @Nullable Long expiresInMs) {}

  @Override
  public NewKey createKey(
      String name, Role role, @Nullable String tenant, @Nullable Duration lifetime) {
    ApiKey.checkedName(name);
    ApiKey.checkedTenant(tenant);
    ApiKey.checkedLifetime(lifetime);
    Long expiresInMs = lifetime == null ? null : Long.valueOf(lifetime.toMillis());
    return created(
        server.post(
            "/v1/keys",
            new KeyRequest(name, role.word(), tenant, expiresInMs),
            KeyResource.Created.class));
  }

  @Override
  public boolean revokeKey(String id) {
    return server.delete("/v1/keys/" + encoded(id));
  }

  @Override
  public Optional<NewKey> rotateKey(String id, Duration overlap) {
    return server.post(
        "/v1/keys/" + encoded(id) + "/rotate",
        Map.of("overlapMs", ApiKey.checkedOverlap(overlap).toMillis()),
        reply ->
            OperatorCalls.isNotFound(reply)
                ? Optional.empty()
                : Optional.of(created(reply.read(KeyResource.Created.class))));
  }

  private static NewKey created(KeyResource.Created key) {
    return new NewKey(key.id(), key.key());
  }

  @Override
  public void rotateSigningKey() {
    server.post("/v1/signing-keys/rotate", NOTHING);
  }

  @Override
  public Workers workers() {
    WorkerResource.Workers all = server.get("/v1/workers", WorkerResource.Workers.class);
    QueueResource.Paused said = all.workersPause();
    Pause pause =
        all.workersPausedAt() == null ? null : new Pause(all.workersPausedAt(), null, null);
    return new Workers(
        said == null ? pause : said.pause(),
        all.workers().stream().map(WorkerResource::view).toList());
  }

  private record WorkerCommandRequest(@Nullable String supervisor, String reason) {}

  @Override
  public List<WorkerCommand> command(WorkerCommand.Draft draft) {
    return server
        .post(
            "/v1/workers/" + encoded(draft.component()) + "/" + draft.action().text(),
            new WorkerCommandRequest(draft.supervisor(), draft.reason()),
            WorkerCommandResource.Accepted.class)
        .workerCommands();
  }

  @Override
  public void pauseAllWorkers(String requestedBy, String reason) {
    server.post("/v1/workers/pause", Map.of("reason", reason));
  }

  @Override
  public Resumed resumeAllWorkers(String requestedBy, String reason) {
    WorkerCommandResource.Accepted accepted =
        server.post(
            "/v1/workers/resume", Map.of("reason", reason), WorkerCommandResource.Accepted.class);
    return new Resumed(
        Boolean.TRUE.equals(accepted.workersWerePaused()), accepted.workerCommands());
  }

  @Override
  public Health health() {
    var unused = server.get("/ready", JsonNode.class);
    // First: a key that may not read is refused here, although it may read a part of the info.
    Workers workers = workers();
    InfoResource info = server.get("/v1/info", InfoResource.class);
    return new Health(
        "%s, holdfast %s on PostgreSQL %s, schema %s"
            .formatted(
                server, info.version(), info.database().version(), info.database().schemaVersion()),
        workers,
        info.problems());
  }

  private static String queuePath(String queue) {
    return "/v1/queues/" + encoded(queue);
  }

  private static String schedulePath(String name) {
    return "/v1/schedules/" + encoded(name);
  }

  @Override
  public void close() {
    server.close();
  }
}
