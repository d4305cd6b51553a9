package dev.holdfast.queue;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.admin.ApiKeys;
import dev.holdfast.queue.admin.Dispatches;
import dev.holdfast.queue.admin.KnownKey;
import dev.holdfast.queue.admin.Queues;
import dev.holdfast.queue.admin.RotateKey;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.queue.admin.TokenKeys;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.enqueue.Enqueue;
import dev.holdfast.queue.enqueue.EnqueueDefaults;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.JsonInput;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.schedule.FireSchedules;
import dev.holdfast.queue.schedule.Schedules;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What operators set: queues, schedules, where jobs are pushed to, and the keys of the API. */
public final class Admin {
  private final Database database;
  private final QueueNotifier notifier;
  private final Codec codec;
  private final Enqueue enqueue;
  private final EnqueueDefaults defaults;

  Admin(
      Database database,
      QueueNotifier notifier,
      Codec codec,
      Enqueue enqueue,
      EnqueueDefaults defaults) {
    this.database = database;
    this.notifier = notifier;
    this.codec = codec;
    this.enqueue = enqueue;
    this.defaults = defaults;
  }

  /** Queues that have settings or unfinished jobs; of one tenant, those that have jobs of it. */
  public List<QueueStatus> queues(Tenant tenant) {
    return new MaterializedJobs(database)
        .reading("queues", connection -> Queues.list(connection, tenant));
  }

  /** One queue; one of which nothing is known is empty. */
  public QueueStatus queue(String name, Tenant tenant) {
    return queues(tenant).stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseGet(() -> QueueStatus.empty(name, workersPausedAt().orElse(null)));
  }

  /**
   * Whether the queue has settings, unfinished jobs, a schedule, or a worker that has ever served
   * it. A setting of any other queue may be a typing error.
   */
  public boolean isKnown(String queue) {
    return database.run("isKnown", connection -> Queues.isKnown(connection, queue));
  }

  /** Nothing more is claimed from the queue; running jobs continue. */
  public void pause(String queue) {
    pause(queue, Pause.Draft.UNKNOWN);
  }

  /**
   * @param pause who pauses it and why, kept until it is resumed
   */
  public void pause(String queue, Pause.Draft pause) {
    database.run("pause", connection -> Queues.pause(connection, Limits.queue(queue), pause));
  }

  /** The queues that are paused by themselves, by name. */
  public Map<String, Pause> pauses() {
    return database.run("pauses", Queues::pauses);
  }

  /** False when the queue was not paused. */
  public boolean resume(String queue) {
    boolean resumed =
        database.run("resume", connection -> Queues.resume(connection, Limits.queue(queue)));
    notifier.send(List.of(queue));
    return resumed;
  }

  /** No worker claims a job from any queue; running jobs continue. */
  public void pauseAllWorkers() {
    pauseAllWorkers(Pause.Draft.UNKNOWN);
  }

  /**
   * @param pause who pauses them and why, kept until they are resumed
   */
  public void pauseAllWorkers(Pause.Draft pause) {
    database.run("pauseAllWorkers", connection -> Queues.pauseAllWorkers(connection, pause));
  }

  /**
   * Ends {@link #pauseAllWorkers}; queues that were paused by name stay paused. False when it was
   * not set.
   */
  public boolean resumeAllWorkers() {
    boolean resumed =
        database.run("resumeAllWorkers", connection -> Queues.resumeAllWorkers(connection));
    notifier.send(
        queues(Tenant.ANY).stream().filter(each -> each.due() > 0).map(QueueStatus::name).toList());
    return resumed;
  }

  /** Since when all workers are paused; empty when they are not. */
  public Optional<Instant> workersPausedAt() {
    return workersPause().map(Pause::at);
  }

  /** Who paused all workers, when and why; empty when they are not paused. */
  public Optional<Pause> workersPause() {
    return database.run("workersPause", Queues::workersPause);
  }

  /** How many jobs of the queue may run at once over all workers; null lifts the limit. */
  public void limit(String queue, @Nullable Integer maxRunning) {
    Limits.queue(queue);
    Limits.maxRunning(maxRunning);
    database.run("limit", connection -> Queues.limit(connection, queue, maxRunning));
    notifier.send(List.of(queue));
  }

  /** How many jobs of the queue may start per period of time over all workers. */
  public void rate(String queue, int starts, Duration period) {
    rate(queue, new RateLimit(starts, period));
  }

  /** Lifts the rate. */
  public void liftRate(String queue) {
    rate(queue, null);
  }

  /** The same; null lifts it. */
  public void rate(String queue, @Nullable RateLimit limit) {
    database.run("rate", connection -> Queues.rate(connection, Limits.queue(queue), limit));
    notifier.send(List.of(queue));
  }

  /** Makes a schedule, or changes the one of that name. */
  public void schedule(Schedule given) {
    Schedule schedule = given.job(defaults.declared(given.job()));
    database.transact(
        "schedule",
        connection ->
            JsonInput.store(
                "schedule",
                Refusal.PAYLOAD_NOT_JSON,
                () -> Schedules.set(connection, schedule, codec)));
  }

  /**
   * Enqueues the job of a schedule now, and leaves its times as they are; empty when there is no
   * such schedule. Of a schedule without overlap it is a duplicate while the last job has not
   * ended.
   */
  public Optional<Enqueued> runSchedule(String name) {
    return database.transact(
        "runSchedule", connection -> FireSchedules.now(connection, enqueue, name));
  }

  /** All of them by name, with their next and last times. */
  public List<ScheduleStatus> schedules() {
    return database.run("schedules", Schedules::list);
  }

  /** False when there is no such schedule, or it was paused before. */
  public boolean pauseSchedule(String name) {
    return pauseSchedule(name, Pause.Draft.UNKNOWN);
  }

  /**
   * @param pause who pauses it and why, kept until it is resumed
   */
  public boolean pauseSchedule(String name, Pause.Draft pause) {
    return database.run("pauseSchedule", connection -> Schedules.pause(connection, name, pause));
  }

  /** The schedules that are paused, by name. */
  public Map<String, Pause> schedulePauses() {
    return database.run("schedulePauses", Schedules::pauses);
  }

  /** False when there is no such schedule, or it was not paused. */
  public boolean resumeSchedule(String name) {
    return database.transact("resumeSchedule", connection -> Schedules.resume(connection, name));
  }

  /** False when there is no such schedule; jobs that it has enqueued stay. */
  public boolean removeSchedule(String name) {
    return database.run("removeSchedule", connection -> Schedules.remove(connection, name));
  }

  public List<Dispatch> dispatches() {
    return database.run("dispatches", Dispatches::list);
  }

  public void dispatch(Dispatch dispatch) {
    database.run("dispatch", connection -> Dispatches.set(connection, dispatch));
  }

  /** False when the queue was not pushed anywhere. */
  public boolean stopDispatch(String queue) {
    return database.run("stopDispatch", connection -> Dispatches.remove(connection, queue));
  }

  /** Stores why a queue's tasks do not reach their worker, unless the same is stored already. */
  public void dispatchFails(
      String queue, DispatchError.Kind kind, String cause, boolean circuitOpen) {
    database.run(
        "dispatchFails",
        connection -> Dispatches.recordError(connection, queue, kind, cause, circuitOpen));
  }

  /** Clears the dispatch error: tasks of the queue reach their worker. */
  public void dispatchWorks(String queue) {
    database.run("dispatchWorks", connection -> Dispatches.works(connection, queue));
  }

  public void createKey(ApiKey key, String digest, @Nullable Duration lifetime) {
    ApiKey.checkedName(key.name());
    ApiKey.checkedTenant(key.tenant());
    ApiKey.checkedLifetime(lifetime);
    boolean created =
        database.transact(
            "createKey",
            connection ->
                ApiKeys.create(
                    connection, key.id(), key.name(), key.role(), key.tenant(), digest, lifetime));
    if (!created) {
      throw new IllegalStateException("there is another key " + key.id());
    }
  }

  /** False when there is no such key, or it is no longer valid. */
  public boolean revokeKey(String id, Duration after) {
    return database.run("revokeKey", connection -> ApiKeys.revoke(connection, id, after));
  }

  /**
   * Replaces a key by one with the same rights and the same end; the old one stays valid as long as
   * the overlap lasts.
   *
   * @param id of the new key
   * @param digest of the new key's secret
   * @return empty when there is no such key, or it is not valid any more
   */
  public Optional<ApiKey> rotateKey(String old, String id, String digest, Duration overlap) {
    ApiKey.checkedOverlap(overlap);
    return database.run(
        "rotateKey", connection -> RotateKey.rotate(connection, old, id, digest, overlap));
  }

  public List<ApiKey> keys() {
    return database.run("keys", ApiKeys::list);
  }

  public Optional<KnownKey> validKey(String id) {
    return database.run("validKey", connection -> ApiKeys.valid(connection, id));
  }

  public boolean hasKeys() {
    return database.run("hasKeys", ApiKeys::any);
  }

  /** The newest first. */
  public List<TokenKey> tokenKeys() {
    return database.run("tokenKeys", TokenKeys::inUse);
  }

  /** Those that links to questions are verified by: also keys that have retired lately. */
  public List<TokenKey> linkKeys() {
    return database.run("linkKeys", TokenKeys::forLinks);
  }

  /** Stores this key unless there is one already. */
  public void firstTokenKey(TokenKey key) {
    database.transact("firstTokenKey", connection -> TokenKeys.first(connection, key));
  }

  public void rotateTokenKey(TokenKey key, Duration overlap) {
    database.transact("rotateTokenKey", connection -> TokenKeys.rotate(connection, key, overlap));
  }
}
