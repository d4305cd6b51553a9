package dev.holdfast.client.operate;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.contract.operate.NoticeOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.contract.operate.WorkerOperator;
import dev.holdfast.contract.resource.InfoResource;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Through a server. */
public final class HttpOperator implements Operator {
  private final OperatorCalls server;

  /**
   * @param key null for a server on this machine that has no keys yet
   */
  public HttpOperator(URI server, @Nullable String key) {
    this.server = new OperatorCalls(server, key);
  }

  @Override
  public JobOperator jobs() {
    return new HttpJobs(server);
  }

  @Override
  public QueueOperator queues() {
    return new HttpQueues(server);
  }

  @Override
  public ScheduleOperator schedules() {
    return new HttpSchedules(server);
  }

  @Override
  public WorkerOperator workers() {
    return new HttpWorkers(server);
  }

  @Override
  public KeyOperator keys() {
    return new HttpKeys(server);
  }

  @Override
  public NoticeOperator notices() {
    return new HttpNotices(server);
  }

  @Override
  public Health health() {
    var unused = server.get("/ready", JsonNode.class);
    // First: a key that may not read is refused here, although it may read a part of the info.
    Workers workers = workers().list();
    InfoResource info = server.get("/v1/info", InfoResource.class);
    return new Health(
        "%s, holdfast %s on PostgreSQL %s, schema %s"
            .formatted(
                server, info.version(), info.database().version(), info.database().schemaVersion()),
        workers,
        info.problems());
  }

  @Override
  public void close() {
    server.close();
  }
}
