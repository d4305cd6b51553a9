package dev.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.dbos.transact.DBOS;
import dev.dbos.transact.StartWorkflowOptions;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import dev.dbos.transact.workflow.WorkflowHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * DBOS Transact for Java. Workflows are started directly, by as many threads as may run at once,
 * which is faster than one of its queues: those are polled. The pool has twenty connections; ten
 * and forty were not faster.
 */
final class DbosSteps implements StepTrials.Durable {
  /** What DBOS makes a proxy of. */
  public interface Flow {
    int run(int number, int steps) throws Exception;
  }

  /** A workflow of steps that do nothing. */
  public static final class Steps implements Flow {
    private final DBOS dbos;

    Steps(DBOS dbos) {
      this.dbos = dbos;
    }

    @Override
    @Workflow(name = "steps")
    public int run(int number, int steps) {
      int sum = 0;
      for (int i = 0; i < steps; i++) {
        int result = i;
        sum += dbos.runStep(() -> result, "step-" + i);
      }
      return sum;
    }
  }

  private final Target target;
  private final HikariDataSource pool;
  private final DBOS dbos;
  private final Flow flow;

  DbosSteps(Target target) {
    this.target = target;
    this.pool = target.pool(20);
    this.dbos = new DBOS(DBOSConfig.defaults("bench").withDataSource(pool));
    this.flow = dbos.registerProxy(Flow.class, new Steps(dbos));
    dbos.launch();
  }

  @Override
  public String name() {
    return "DBOS";
  }

  @Override
  public void clear() throws Exception {
    target.run("TRUNCATE dbos.workflow_status CASCADE");
  }

  @Override
  public void run(int jobs, int steps, int concurrency) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(concurrency)) {
      List<Future<?>> all = new ArrayList<>();
      for (int job = 0; job < jobs; job++) {
        int number = job;
        all.add(threads.submit(() -> one(number, steps)));
      }
      for (Future<?> each : all) {
        each.get();
      }
    }
  }

  private Integer one(int number, int steps) throws Exception {
    WorkflowHandle<Integer, Exception> handle =
        dbos.startWorkflow(
            () -> flow.run(number, steps), new StartWorkflowOptions(UUID.randomUUID().toString()));
    return handle.getResult();
  }

  @Override
  public void verify(int jobs, int steps) throws Exception {
    target.expect(jobs, "SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'");
    target.expect((long) jobs * steps, "SELECT count(*) FROM dbos.operation_outputs");
  }

  @Override
  public void close() {
    dbos.shutdown();
    pool.close();
  }
}
