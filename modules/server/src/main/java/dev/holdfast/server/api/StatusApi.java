package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ShownSetting;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.ToLongFunction;

/** Health, readiness, status and settings of the server. */
public final class StatusApi {
  private static final Duration READY_WITHIN = Duration.ofSeconds(3);

  private final JobStore store;
  private final Diagnostics diagnostics;
  private final Timings timings;
  private final List<ShownSetting> settings;
  private final InstantSource clock;
  private final Readiness readiness;
  private final long startedAt = System.nanoTime();

  public StatusApi(
      JobStore store, Diagnostics diagnostics, ServerOptions options, InstantSource clock) {
    this.store = store;
    this.diagnostics = diagnostics;
    this.timings = options.timings();
    this.settings = options.settings();
    this.clock = clock;
    // Durability was checked at start, where an operator may have allowed an unsafe database.
    this.readiness = new Readiness(() -> store.check(true), READY_WITHIN);
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/health", Guard.OPEN, this::health),
        Route.get("/ready", Guard.OPEN, this::ready),
        Route.get("/v1/info", Guard.ANY_KEY, this::info),
        Route.get("/v1/settings", Guard.OPERATE, this::settings));
  }

  private Answer health(Call call) {
    return Answer.ok(Wire.object().put("status", "up"));
  }

  private Answer ready(Call call) throws InterruptedException {
    if (!readiness.isReady()) {
      throw new Problem(
              503, "not_ready", "the database does not answer, or its schema does not fit")
          .header("Retry-After", "1");
    }
    return Answer.ok(Wire.object().put("status", "ready"));
  }

  /** A worker's key, which may not read jobs, gets what workers need: the version and timings. */
  private Answer info(Call call) {
    ObjectNode node =
        Wire.object()
            .put("version", version())
            .put("serverTime", clock.instant().toString())
            .put("uptimeMs", Duration.ofNanos(System.nanoTime() - startedAt).toMillis());
    node.putObject("timings")
        .put("heartbeatIntervalMs", timings.heartbeat().toMillis())
        .put("heartbeatTimeoutMs", timings.lease().toMillis())
        .put("reapGraceMs", timings.reapGrace().toMillis())
        .put("cancelGracePeriodMs", timings.cancelGrace().toMillis());
    if (call.caller().role().may(Role.Permission.READ)) {
      addState(node, call);
    }
    return Answer.ok(node);
  }

  private void addState(ObjectNode node, Call call) {
    DatabaseVersion database = store.version();
    Tenant tenant = call.caller().tenant();
    List<QueueStatus> queues = store.admin().queues(tenant);
    node.putObject("database")
        .put("version", database.server())
        .put("schemaVersion", database.schema());
    node.putObject("counts")
        .put("queues", queues.size())
        .put("due", sum(queues, QueueStatus::due))
        .put("delayed", sum(queues, QueueStatus::delayed))
        .put("retrying", sum(queues, QueueStatus::retrying))
        .put("waiting", sum(queues, QueueStatus::waiting))
        .put("running", sum(queues, QueueStatus::running));
    node.put("workersPausedAt", store.admin().workersPausedAt().map(Object::toString).orElse(null));
    node.putPOJO(
        "problems", diagnostics.problems(queues, store.workers().readings().fleet(tenant), tenant));
  }

  /** Settings name hosts, folders and programs, which one tenant must not see. */
  private Answer settings(Call call) {
    call.caller().mustSeeEveryTenant("a setting");
    ObjectNode node = Wire.object();
    node.putArray("settings").addAll(settings.stream().map(StatusApi::setting).toList());
    return Answer.ok(node);
  }

  private static ObjectNode setting(ShownSetting setting) {
    return Wire.object()
        .put("key", setting.key())
        .put("variable", setting.variable().isEmpty() ? null : setting.variable())
        .put("value", setting.value())
        .put("origin", setting.origin())
        .put("meaning", setting.meaning());
  }

  private static long sum(List<QueueStatus> queues, ToLongFunction<QueueStatus> count) {
    return queues.stream().mapToLong(count).sum();
  }

  public static String version() {
    String version = StatusApi.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
