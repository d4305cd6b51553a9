package dev.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.dbos.transact.DBOS;
import dev.dbos.transact.StartWorkflowOptions;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import dev.dbos.transact.workflow.WorkflowHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * DBOS Transact for Java. Workflows are started directly, and stay in memory while they wait: what
 * is measured is not how another process would continue them.
 */
final class DbosWaits implements WaitTrials.Waiting {
  private static final Duration LONG = Duration.ofHours(1);

  /** What DBOS makes a proxy of. */
  public interface Flows {
    int signals(int count) throws Exception;

    int parent(int count) throws Exception;

    int chain(int count) throws Exception;

    int child(int number) throws Exception;
  }

  /** Workflows that wait. */
  public static final class Waits implements Flows {
    private final DBOS dbos;
    private final BlockingQueue<Long> went;
    private volatile Flows self;

    Waits(DBOS dbos, BlockingQueue<Long> went) {
      this.dbos = dbos;
      this.went = went;
      this.self = this;
    }

    @Override
    @Workflow(name = "signals")
    public int signals(int count) {
      for (int i = 0; i < count; i++) {
        dbos.recv("go", LONG);
        went.add(System.nanoTime());
      }
      return count;
    }

    @Override
    @Workflow(name = "parent")
    public int parent(int count) throws Exception {
      List<WorkflowHandle<Integer, Exception>> children = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int number = i;
        children.add(dbos.startWorkflow(() -> self.child(number)));
      }
      int results = 0;
      for (WorkflowHandle<Integer, Exception> child : children) {
        child.getResult();
        results++;
      }
      went.add(System.nanoTime());
      return results;
    }

    @Override
    @Workflow(name = "chain")
    public int chain(int count) throws Exception {
      for (int i = 0; i < count; i++) {
        int number = i;
        WorkflowHandle<Integer, Exception> child = dbos.startWorkflow(() -> self.child(number));
        child.getResult();
      }
      went.add(System.nanoTime());
      return count;
    }

    @Override
    @Workflow(name = "child")
    public int child(int number) {
      return number;
    }
  }

  private final HikariDataSource pool;
  private final DBOS dbos;
  private final Waits waits;
  private final Flows flows;
  private final BlockingQueue<Long> went = new LinkedBlockingQueue<>();

  DbosWaits(Target target) {
    this.pool = target.pool(20);
    this.dbos = new DBOS(DBOSConfig.defaults("bench").withDataSource(pool));
    this.waits = new Waits(dbos, went);
    this.flows = dbos.registerProxy(Flows.class, waits);
    waits.self = flows;
  }

  @Override
  public String name() {
    return "DBOS";
  }

  @Override
  public void start() {
    dbos.launch();
  }

  private static StartWorkflowOptions fresh(String id) {
    return new StartWorkflowOptions(id);
  }

  @Override
  public double[] signals(int count) throws Exception {
    String id = UUID.randomUUID().toString();
    WorkflowHandle<Integer, Exception> job =
        dbos.startWorkflow(() -> flows.signals(count), fresh(id));
    double[] millis = new double[count];
    for (int i = 0; i < count; i++) {
      // As long as the handler of Holdfast takes to wait again, and what it pauses then.
      Trials.sleep(20 + i % 7);
      long start = System.nanoTime();
      dbos.send(id, i, "go");
      millis[i] = (went.take() - start) / 1e6;
    }
    job.getResult();
    return millis;
  }

  @Override
  public double children(int count) throws Exception {
    Trials.sleep(20);
    long start = System.nanoTime();
    dbos.startWorkflow(() -> flows.parent(count), fresh(UUID.randomUUID().toString()));
    return (went.take() - start) / 1e6;
  }

  @Override
  public double chain(int count) throws Exception {
    Trials.sleep(20);
    long start = System.nanoTime();
    dbos.startWorkflow(() -> flows.chain(count), fresh(UUID.randomUUID().toString()));
    return (went.take() - start) / 1e6;
  }

  @Override
  public void close() {
    dbos.shutdown();
    pool.close();
  }
}
