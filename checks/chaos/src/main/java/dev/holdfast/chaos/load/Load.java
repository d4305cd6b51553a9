package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Enqueues jobs of every sort, as long as few enough wait, and cancels some of them. What is not
 * answered is sent again under the same ids until it is.
 */
public final class Load {
  /** Queues with a limit and a rate, beside the default one. */
  public static final String LIMITED = "limited";

  public static final String RATED = "rated";
  public static final int LIMIT = 3;

  /** What the schedule enqueues, every second. */
  public static final String TICK = "tick";

  public static final Duration TICKS = Duration.ofSeconds(1);

  private static final int BATCH = 50;
  private static final int NEVER = 1_000;
  // Of a thousand jobs: each runs dozens of programs.
  private static final int WORKSPACES = 5;

  private final Holdfast holdfast;
  private final Ledger ledger;
  private final Random random;
  private final Waits waits;
  private final Chains chains;
  private final int most;
  private final int perSecond;
  private final LongSupplier waiting;
  private final int backlog;
  private final @Nullable WorkspaceJobs workspaces;
  private final List<JobId> recent = new ArrayList<>();
  private final Thread thread = Thread.ofPlatform().daemon().name("load").unstarted(this::run);
  private final Thread answering =
      Thread.ofPlatform().daemon().name("answers").unstarted(this::answer);
  private volatile boolean stopped;
  private volatile boolean answered;
  private int produced;

  /**
   * @param most how many jobs at most
   * @param perSecond how many in a second at most
   * @param waiting how many jobs wait now
   * @param backlog how many may
   * @param workspaces null where there can be none
   */
  public Load(
      Holdfast holdfast,
      Ledger ledger,
      long seed,
      int most,
      int perSecond,
      LongSupplier waiting,
      int backlog,
      @Nullable WorkspaceJobs workspaces) {
    this.workspaces = workspaces;
    this.holdfast = holdfast;
    this.ledger = ledger;
    this.random = new Random(seed);
    this.waits = new Waits(holdfast, ledger, new Random(seed));
    this.chains = new Chains(holdfast, new Random(seed));
    this.most = most;
    this.perSecond = perSecond;
    this.waiting = waiting;
    this.backlog = backlog;
  }

  /** A job for each second, also for those in which nobody was there to enqueue it. */
  public static Schedule schedule() {
    Job job = Job.of(TICK, new ChaosKinds.Work(1, 0)).maxAttempts(NEVER).maxCrashes(NEVER);
    return Schedule.every(TICK, TICKS, job).missedFires(MissedFires.ALL);
  }

  public Load start() {
    thread.start();
    answering.start();
    return this;
  }

  /** Beside the load, and after it: a job may stand in its queue until the last. */
  private void answer() {
    while (!answered) {
      waits.answerSome();
      chains.signalSome();
      pause(50);
    }
  }

  private void run() {
    long start = System.nanoTime();
    while (!stopped && produced < most) {
      double due = (System.nanoTime() - start) / 1e9 * perSecond;
      if (produced > due || waits() >= backlog) {
        pause(50);
        continue;
      }
      List<Job> jobs = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        jobs.add(next());
      }
      // What was begun is brought to its end: nobody may wonder whether these jobs are there.
      while (!enqueued(jobs)) {
        pause(100);
      }
      produced += jobs.size();
      waits.enqueued(jobs);
      if (random.nextInt(3) == 0) {
        cancelOne();
      }
    }
  }

  private long waits() {
    try {
      return waiting.getAsLong();
    } catch (RuntimeException away) {
      return Long.MAX_VALUE;
    }
  }

  private Job next() {
    boolean workspace = random.nextInt(1_000) < WORKSPACES;
    WorkspaceJobs there = workspaces;
    Job job =
        (workspace && there != null ? there.next() : sort(random.nextInt(100)))
            .maxAttempts(NEVER)
            .maxCrashes(NEVER);
    return random.nextInt(4) == 0 ? job.priority(random.nextInt(10)) : job;
  }

  private Job sort(int roll) {
    if (roll < 40) {
      return Job.of("plain", quick());
    } else if (roll < 42) {
      return Job.of(StartedJobs.ANY, new ChaosKinds.Work(random.nextInt(1_000), 0));
    } else if (roll < 44) {
      return Job.of(StartedJobs.FAIL_FAST, new ChaosKinds.Work(random.nextInt(1_000), 0));
    } else if (roll < 45) {
      return chains.next();
    } else if (roll < 50) {
      return Job.of("flaky", new ChaosKinds.Work(5, 1 + random.nextInt(2)));
    } else if (roll < 62) {
      return Job.of("effect", quick());
    } else if (roll < 72) {
      // Slow, so that a process that is frozen holds several, and costs nothing meanwhile.
      return Job.of("stubborn", new ChaosKinds.Work(2_500, 0));
    } else if (roll < 74) {
      return Job.of(Waits.KIND, new ChaosKinds.Work(random.nextInt(3_000), 0));
    } else if (roll < 76) {
      return Job.of("steps", new ChaosKinds.Work(30, 0));
    } else if (roll < 78) {
      return Job.of("artifact", quick());
    } else if (roll < 79) {
      return Job.of("leaky", quick());
    } else if (roll < 83) {
      return Job.of("plain", quick()).delay(Duration.ofMillis(random.nextInt(3_000)));
    } else if (roll < 87) {
      return Job.of("plain", quick()).uniqueKey("unique-" + random.nextInt(20));
    } else if (roll < 91) {
      return Job.of("plain", quick()).concurrencyKey("key-" + random.nextInt(5), 2);
    } else if (roll < 94) {
      return Job.of("plain", quick()).queue(LIMITED);
    } else if (roll < 96) {
      return Job.of("plain", quick()).queue(RATED);
    }
    return recent.isEmpty()
        ? Job.of("plain", quick())
        : Job.of("plain", quick()).dependsOn(recent.get(random.nextInt(recent.size())));
  }

  private ChaosKinds.Work quick() {
    return new ChaosKinds.Work(random.nextInt(40), 0);
  }

  /** Besides the others; whether it was acknowledged. */
  public boolean enqueue(Job job) {
    Job lasting = job.maxAttempts(NEVER).maxCrashes(NEVER);
    for (int tries = 0; tries < 50 && !stopped; tries++) {
      try {
        holdfast.enqueue(lasting);
        ledger.acknowledged(lasting);
        return true;
      } catch (RuntimeException unanswered) {
        ledger.unanswered(lasting);
        pause(200);
      }
    }
    return false;
  }

  private boolean enqueued(List<Job> jobs) {
    List<Enqueued> answers;
    try {
      answers = holdfast.enqueue(jobs);
    } catch (RuntimeException unanswered) {
      return false;
    }
    recent.clear();
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      if (answers.get(i).duplicate() && !answers.get(i).id().equals(job.id())) {
        ledger.duplicate(answers.get(i).id());
      } else {
        ledger.acknowledged(job);
        recent.add(job.id());
      }
    }
    return true;
  }

  private void cancelOne() {
    JobId job = recent.get(random.nextInt(recent.size()));
    try {
      holdfast.cancel(job, "chaos").ifPresent(ledger::cancelled);
    } catch (RuntimeException unanswered) {
      // Whether it was cancelled nobody was told, so nothing is expected.
    }
  }

  private void pause(long millis) {
    LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
  }

  /** Waits until the last jobs are acknowledged. What jobs ask is answered further on. */
  public void stop() {
    stopped = true;
    join(thread);
  }

  /** All jobs have ended. */
  public void stopAnswering() {
    answered = true;
    join(answering);
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
