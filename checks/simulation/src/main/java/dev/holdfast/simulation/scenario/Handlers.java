package dev.holdfast.simulation.scenario;

import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.wait.Question;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The kinds of jobs. A payload is what the handler is to do: {@code ms} how long it takes, {@code
 * n} how many attempts fail or snooze first.
 */
final class Handlers {
  private static final RetryPolicy RETRY =
      new RetryPolicy(Duration.ofSeconds(1), 2, Duration.ofSeconds(20));
  private static final Budgets STEPS =
      new Budgets(2, Duration.ofSeconds(20), Duration.ofSeconds(8), 2, 1);
  private static final long SLICE = 700;

  /** The id under which jobs ask. */
  static final String QUESTION = "limit";

  private final Interpreter queue;
  private final Network network;
  private final Rules rules;
  private final SimulatedWorker worker;

  Handlers(Interpreter queue, Network network, Rules rules, SimulatedWorker worker) {
    this.queue = queue;
    this.network = network;
    this.rules = rules;
    this.worker = worker;
  }

  List<Kind<?>> all() {
    List<Kind<?>> kinds = new ArrayList<>();
    kinds.add(kind("work", this::work));
    kinds.add(kind("strict", this::work).strictly());
    kinds.add(kind("strict-deaf", this::deaf).strictly());
    kinds.add(kind("fail", this::fail));
    kinds.add(kind("snooze", this::snooze));
    kinds.add(kind("deaf", this::deaf));
    kinds.add(kind("crash", this::crash));
    kinds.add(kind("steps", this::steps));
    kinds.add(kind("own", this::settleItself));
    kinds.add(kind("sleep", this::sleep));
    kinds.add(kind("signal", this::awaitSignals));
    kinds.add(kind("parent", this::joinJobs));
    kinds.add(kind("ask", this::ask));
    kinds.add(kind("first", this::awaitFirst));
    kinds.add(kind("loop", this::goOn));
    kinds.add(kind("file", this::publish).producing("out"));
    return kinds;
  }

  private Kind<String> kind(String name, Handler<String> body) {
    Rules.Manner manner =
        new Rules.Manner(name.startsWith("strict"), !name.endsWith("deaf"), name.equals("steps"));
    return Kind.of(
            name,
            String.class,
            (String payload, JobContext context) -> {
              Rules.Execution execution = rules.begins(context, worker, manner);
              GOES_ON.set(() -> rules.goesOn(execution));
              try {
                return body.handle(payload, context);
              } finally {
                rules.ends(execution);
              }
            })
        .retry(RETRY);
  }

  /** Tells the rules that the handler of this thread goes on. */
  private static final ThreadLocal<Runnable> GOES_ON = ThreadLocal.withInitial(() -> () -> {});

  private static void look(JobContext context) {
    context.checkCancelled();
    GOES_ON.get().run();
  }

  private static long millis(String payload) {
    return Long.parseLong(payload.split(":", -1)[0]);
  }

  private static int number(String payload) {
    return Integer.parseInt(payload.split(":", -1)[1]);
  }

  private static void pass(JobContext context, long millis, int from, int to)
      throws InterruptedException {
    long slices = Math.max(1, millis / SLICE);
    for (long slice = 0; slice < slices; slice++) {
      look(context);
      context.progress((int) (from + (to - from) * slice / slices));
      Thread.sleep(millis / slices);
    }
    look(context);
  }

  private String done(JobContext context, int progress) {
    String result = "done by " + context.lease().attempt();
    rules.succeeds(context.lease(), "\"" + result + "\"", progress);
    return result;
  }

  private Object work(String payload, JobContext context) throws Exception {
    pass(context, millis(payload), 0, 100);
    context.log("nearly done, token " + Rules.SECRET);
    context.progress(100);
    // One that was told to stop reports no more.
    return done(context, context.isCancelled() ? 0 : 100);
  }

  private Object fail(String payload, JobContext context) throws Exception {
    pass(context, millis(payload), 0, 50);
    if (context.lease().attempt() <= number(payload)) {
      throw new IllegalStateException("refused with " + Rules.SECRET);
    }
    return done(context, 0);
  }

  private Object snooze(String payload, JobContext context) throws Exception {
    pass(context, millis(payload), 0, 50);
    if (context.lease().attempt() <= number(payload)) {
      throw context.snooze(Duration.ofMillis(millis(payload)));
    }
    return done(context, 0);
  }

  /** Does not stop when told to. */
  private Object deaf(String payload, JobContext context) {
    long until = System.nanoTime() + Duration.ofMillis(millis(payload)).toNanos();
    while (System.nanoTime() < until) {
      try {
        Thread.sleep(SLICE);
      } catch (InterruptedException ignored) {
        // This is what makes it deaf.
      }
    }
    return done(context, 0);
  }

  private Object crash(String payload, JobContext context) throws Exception {
    Thread.sleep(millis(payload));
    if (context.lease().attempt() <= number(payload)) {
      rules.died(worker);
      worker.kill();
      Thread.sleep(1);
    }
    return done(context, 0);
  }

  private Object steps(String payload, JobContext context) throws Exception {
    int hanging = number(payload);
    for (int i = 1; i <= 3; i++) {
      int step = i;
      look(context);
      String unused =
          context.step(
              "step-" + step,
              String.class,
              STEPS,
              () -> {
                Thread.sleep(millis(payload));
                if (step == hanging && context.lease().attempt() == 1) {
                  // Silent: the idle timeout ends it.
                  Thread.sleep(Duration.ofMinutes(1));
                }
                if (step == hanging - 3 && context.lease().attempt() == 1) {
                  throw new IllegalStateException("step with " + Rules.SECRET);
                }
                return "result of " + step;
              });
    }
    return done(context, 0);
  }

  private Object sleep(String payload, JobContext context) throws Exception {
    Duration time = Duration.ofMillis(millis(payload));
    rules.asksToSleep(context.id(), time);
    context.sleep("nap", time);
    rules.hasSlept(context.id());
    return done(context, 0);
  }

  /** Two of one name; clients send both, and each again when they got no answer. */
  private Object awaitSignals(String payload, JobContext context) throws Exception {
    for (String id : List.of("first", "second")) {
      Optional<String> said =
          context.await(id, "go", PayloadType.of(String.class), Duration.ofMinutes(2));
      rules.hasTaken(context.id(), id, said.orElse("nothing"));
    }
    return done(context, 0);
  }

  private Object joinJobs(String payload, JobContext context) throws Exception {
    List<Job> jobs =
        List.of(Job.of("work", payload), Job.of("fail", payload), Job.of("steps", payload));
    List<Child> children = context.spawn("kids", jobs);
    List<ChildEnd> ends = context.join("all", children, JobContext.Join.COLLECT);
    rules.hasJoined(context.id(), jobs.size(), ends);
    return done(context, 0);
  }

  /** What happens when nobody decides in time follows from the number. */
  private Object ask(String payload, JobContext context) throws Exception {
    Question.Unanswered then =
        switch (number(payload)) {
          case 0 -> Question.Unanswered.REJECT;
          case 1 -> Question.Unanswered.APPROVE;
          default -> Question.Unanswered.FAIL;
        };
    Question question =
        Question.of("Well?").role(Question.Decider.ADMIN).within(Duration.ofSeconds(20), then);
    rules.hasDecided(context.id(), context.approve(QUESTION, question), then);
    return done(context, 0);
  }

  /** One of them waits for a signal that nobody sends. */
  private Object awaitFirst(String payload, JobContext context) throws Exception {
    List<Job> jobs = List.of(Job.of("work", payload), Job.of("signal", payload));
    List<Child> children = context.spawn("kids", jobs);
    rules.hasFirst(context.id(), context.any("first", children));
    return done(context, 0);
  }

  /** Turn after turn, each a job of its own, until none is left. */
  private Object goOn(String payload, JobContext context) throws Exception {
    int left = number(payload);
    int turn = Integer.parseInt(payload.substring(payload.lastIndexOf(':') + 1));
    rules.turns(context.job(), turn);
    context.sleep("pause", Duration.ofMillis(millis(payload) / 3));
    return left == 0
        ? done(context, 0)
        : context.continueAs(millis(payload) + ":" + (left - 1) + ":" + (turn + 1));
  }

  /** Settles in a transaction of its own, which may fail. */
  private Object settleItself(String payload, JobContext context) throws Exception {
    pass(context, millis(payload), 0, 50);
    context.settlingInTransaction();
    String result = done(context, 0);
    Settlement.Succeed settlement =
        new Settlement.Succeed(context.lease(), new Json("\"" + result + "\""));
    Object unused = network.call(worker.name(), new Verb.Settle(List.of(settlement)), queue);
    return result;
  }

  private Object publish(String payload, JobContext context) throws Exception {
    // Without a word before it: the answer to a report would tell that the lease is lost.
    Thread.sleep(millis(payload));
    context.publish(Map.of("out", Path.of("out")), null);
    Thread.sleep(millis(payload) / 2);
    if (context.lease().attempt() <= number(payload)) {
      throw new IllegalStateException("after publishing");
    }
    return done(context, 0);
  }
}
