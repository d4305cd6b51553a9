package dev.holdfast.operate;

import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.contract.operate.NoticeOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.contract.operate.WorkerOperator;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobStore;

/** On the database itself, for one caller. */
public final class LocalOperator implements Operator {
  private final JobStore store;
  private final Principal caller;
  private final Diagnostics diagnostics;
  private final ApprovalLinks.Maker links;
  private final String version;
  private final Runnable close;

  /**
   * @param links to questions
   * @param version of this program
   * @param close closes the queue and its connections
   */
  public LocalOperator(
      JobStore store,
      Principal caller,
      Diagnostics diagnostics,
      ApprovalLinks.Maker links,
      String version,
      Runnable close) {
    this.store = store;
    this.caller = caller;
    this.diagnostics = diagnostics;
    this.links = links;
    this.version = version;
    this.close = close;
  }

  @Override
  public JobOperator jobs() {
    return new LocalJobs(store, caller, links);
  }

  @Override
  public QueueOperator queues() {
    return new LocalQueues(store.admin(), caller);
  }

  @Override
  public ScheduleOperator schedules() {
    return new LocalSchedules(store.admin(), caller);
  }

  @Override
  public WorkerOperator workers() {
    return new LocalWorkers(store, caller);
  }

  @Override
  public KeyOperator keys() {
    return new LocalKeys(store.admin(), caller);
  }

  @Override
  public NoticeOperator notices() {
    return new LocalNotices(store.notices(), caller);
  }

  @Override
  public Health health() {
    Tenant tenant = caller.tenant();
    WorkerFleet fleet = store.workers().readings().fleet(tenant);
    DatabaseVersion database = store.version();
    return new Health(
        "holdfast %s on PostgreSQL %s, schema %d"
            .formatted(version, database.server(), database.schema()),
        new LocalWorkers(store, caller).of(fleet),
        diagnostics.problems(store.admin().queues(tenant), fleet, tenant));
  }

  @Override
  public void close() {
    close.run();
  }
}
