package dev.holdfast.simulation.compare;

import static dev.holdfast.model.wait.Question.Unanswered.APPROVE;

import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Two calls at once on PostgreSQL, about the same jobs. What each job becomes, and what it is
 * answered, must be what the model has after one of the two orders; the reaper and a heartbeat may
 * also leave out what they find locked. No two calls may ever lock each other out.
 */
public final class Races {
  private static final int JOBS = 6;
  private static final Duration LONGEST_HOLD = Duration.ofMillis(200);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** Before {@link #LATER}. */
  private static final Duration SOON = Duration.ofSeconds(5);

  private static final long BEGIN = 1_000_000;
  private static final long LATER = BEGIN + 31_000_000;

  private final Comparison on;

  public Races(Comparison on) {
    this.on = on;
  }

  /** What went wrong first in so many rounds; null when nothing did. */
  public @Nullable String differs(long seed, int rounds) throws Exception {
    try (PostgresQueue postgres = on.open()) {
      for (int round = 0; round < rounds; round++) {
        String wrong = round(Scheduler.randomOf(seed + round), postgres);
        if (wrong != null) {
          return "round %d: %s".formatted(seed + round, wrong);
        }
        long deadlocks = on.deadlocks();
        if (deadlocks > 0) {
          return "a deadlock within %d rounds".formatted(round + 1);
        }
      }
    }
    return null;
  }

  private @Nullable String round(Random random, PostgresQueue postgres) throws Exception {
    postgres.empty();
    postgres.time(BEGIN);
    List<Verb<?>> before = before(random);
    int locked = 1 + random.nextInt(JOBS);
    Pair pair = random.nextBoolean() ? ofAWait(random, JobSpec.id(locked)) : ofLeases(random);
    before.addAll(pair.before());
    before.forEach(postgres::answer);
    long now = random.nextBoolean() ? LATER : BEGIN;
    postgres.time(now);
    Verb<?> one = pair.one();
    Verb<?> two = pair.two();
    List<Object> answers = atOnce(one, two, postgres, JobSpec.id(locked));
    List<String> rows = postgres.rows();
    List<List<String>> allowed =
        List.of(
            serial(before, now, one, two),
            serial(before, now, two, one),
            serial(before, now, one),
            serial(before, now, two));
    for (int job = 1; job <= JOBS; job++) {
      String found = row(rows, job, List.of(one, two), answers);
      Set<String> expected = new HashSet<>();
      for (List<String> order : allowed) {
        expected.add(order.get(job - 1));
      }
      if (job == locked) {
        expected.addAll(passedOver(serial(before, now).get(job - 1), job, one, two));
      }
      if (!expected.contains(found)) {
        return "%s%n  beside%n%s%nfound:    %s%nexpected: %s"
            .formatted(one, two, found, String.join("\n      or: ", expected));
      }
    }
    return null;
  }

  /** A heartbeat that finds the row of a job locked says that it is held, and writes nothing. */
  private static List<String> passedOver(String row, int job, Verb<?>... verbs) {
    List<String> passed = new ArrayList<>();
    String found = row;
    for (Verb<?> verb : verbs) {
      if (verb instanceof Verb.Heartbeat) {
        // The second one may find it locked as well.
        found += " heartbeat:" + job + "#1";
        passed.add(found);
      }
    }
    return passed;
  }

  /** Six jobs that run, on two workers. */
  private static List<Verb<?>> before(Random random) {
    List<Verb<?>> verbs = new ArrayList<>();
    for (int i = 1; i <= JOBS; i++) {
      verbs.add(new Verb.Enqueue(JobSpec.of(i, "kind", "q", "payload")));
    }
    verbs.add(new Verb.Claim("q", JOBS / 2, "w0", LEASE, GRACE));
    verbs.add(new Verb.Claim("q", JOBS / 2, "w1", LEASE, GRACE));
    if (random.nextBoolean()) {
      // They are no longer in batches.
      verbs.add(new Verb.Heartbeat(leases(), LEASE));
    }
    return verbs;
  }

  private static List<Lease> leases() {
    return IntStream.rangeClosed(1, JOBS).mapToObj(i -> new Lease(JobSpec.id(i), 1)).toList();
  }

  /**
   * Two calls.
   *
   * @param before what comes before them
   */
  private record Pair(List<Verb<?>> before, Verb<?> one, Verb<?> two) {}

  /** One that suspends, ends a wait, or goes on as another job, beside another one of these. */
  private static Pair ofAWait(Random random, JobId job) {
    Verb<?> cancel = new Verb.Cancel(job, "asked");
    Verb<?> signal = new Verb.Signal(job, new SignalToJob("go", new Json("1"), null, ""));
    Verb<?> suspend = suspended(job, new Wait.ForSignal("wait", "go", SOON));
    Verb<?> asked =
        suspended(job, new Wait.ForApproval("wait", Question.of("Well?").within(SOON, APPROVE)));
    Verb<?> yes = decided(job, true);
    Verb<?> goOn = settle(leases(), lease -> new Settlement.Continue(lease, new Json("2")));
    return switch (random.nextInt(9)) {
      case 0, 1 -> new Pair(List.of(), suspend, signal);
      case 2 -> new Pair(List.of(), suspend, cancel);
      case 3 -> new Pair(List.of(suspend), signal, new Verb.Promote());
      case 4 -> new Pair(List.of(asked), yes, decided(job, false));
      case 5 -> new Pair(List.of(asked), yes, new Verb.Promote());
      case 6 -> new Pair(List.of(asked), yes, cancel);
      case 7 -> new Pair(List.of(), goOn, cancel);
      default -> new Pair(List.of(), goOn, signal);
    };
  }

  private static Verb<?> suspended(JobId job, Wait asked) {
    return new Verb.Suspend(new Suspension(new Lease(job, 1), 1, asked));
  }

  private static Verb<?> decided(JobId job, boolean approved) {
    return new Verb.Decide(
        job, "wait", new Decision(approved, "somebody", String.valueOf(approved)), Role.ADMIN);
  }

  private static Pair ofLeases(Random random) {
    return new Pair(List.of(), racing(random, true), racing(random, false));
  }

  /** The first keeps or settles; the second may also take away. */
  private static Verb<?> racing(Random random, boolean first) {
    List<Lease> leases = new ArrayList<>(leases());
    Collections.shuffle(leases, random);
    Failure failure = new Failure(FailureCategory.USER_CODE, "CODE", "message", null, true);
    return switch (random.nextInt(first ? 4 : 6)) {
      case 0 -> new Verb.Heartbeat(leases, LEASE);
      case 1 -> settle(leases, lease -> new Settlement.Fail(lease, failure, Duration.ofSeconds(1)));
      case 2 -> settle(leases, lease -> new Settlement.Succeed(lease, null));
      case 3 -> settle(leases, lease -> new Settlement.Release(lease, false));
      default -> new Verb.ReapAndExpire(Duration.ZERO);
    };
  }

  private static Verb<?> settle(List<Lease> leases, Function<Lease, Settlement> how) {
    return new Verb.Settle(leases.stream().map(how).toList());
  }

  /** For each job its row, and what is answered about it. */
  private static List<String> serial(List<Verb<?>> before, long time, Verb<?>... verbs) {
    long[] now = {BEGIN};
    ModelQueue model = new ModelQueue(new PlainCodec(), () -> now[0]);
    before.forEach(model::answer);
    now[0] = time;
    List<Object> answers = Stream.of(verbs).map(model::answer).toList();
    return IntStream.rangeClosed(1, JOBS)
        .mapToObj(job -> row(model.rows(), job, List.of(verbs), answers))
        .toList();
  }

  /** With that of the job which goes on in its place. */
  private static String row(List<String> rows, int job, List<Verb<?>> verbs, List<Object> answers) {
    JobId id = JobSpec.id(job);
    return rows.stream()
            .filter(
                row ->
                    row.startsWith(id.toString())
                        || row.startsWith(JobId.ofSuccessor(id).toString()))
            .sorted(Comparator.comparing(row -> !row.startsWith(id.toString())))
            .collect(Collectors.joining(", then "))
        + IntStream.range(0, verbs.size())
            .mapToObj(i -> about(JobSpec.id(job), verbs.get(i), answers.get(i)))
            .sorted()
            .collect(Collectors.joining());
  }

  /** What a verb was answered about a job. */
  private static String about(JobId job, Verb<?> verb, Object answer) {
    if (answer instanceof Throwable failed) {
      return " throws " + failed;
    }
    if (verb instanceof Verb.Heartbeat && answer instanceof List<?> results) {
      return results.stream()
          .map(HeartbeatResult.class::cast)
          .filter(each -> each.lease().job().equals(job))
          .map(each -> " heartbeat:" + VerbText.of(each))
          .collect(Collectors.joining());
    }
    if (verb instanceof Verb.Settle(List<Settlement> settlements)
        && answer instanceof List<?> acks) {
      return IntStream.range(0, acks.size())
          .filter(i -> settlements.get(i).lease().job().equals(job))
          .mapToObj(i -> " settle:" + acks.get(i))
          .collect(Collectors.joining());
    }
    if ((verb instanceof Verb.Suspend(Suspension asked) && asked.lease().job().equals(job))
        || (verb instanceof Verb.Signal(JobId told, SignalToJob signal) && told.equals(job))
        || (verb instanceof Verb.Cancel(JobId told, String why) && told.equals(job))
        || (verb instanceof Verb.Decide decided && decided.job().equals(job))) {
      return " " + verb.name() + ":" + VerbText.of(answer);
    }
    return "";
  }

  private List<Object> atOnce(Verb<?> one, Verb<?> two, PostgresQueue postgres, JobId locked)
      throws Exception {
    CyclicBarrier start = new CyclicBarrier(3);
    CompletableFuture<Object> first = begun(one, postgres, start);
    CompletableFuture<Object> second = begun(two, postgres, start);
    // Both come upon a row that is locked for a moment, and go on at the same time.
    try (Connection holder = on.connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("SELECT FROM holdfast.job WHERE id = '%s' FOR UPDATE".formatted(locked));
      start.await();
      awaitBoth(first, second);
      holder.commit();
    }
    return List.of(first.get(), second.get());
  }

  /** Until each waits for a row, or has passed it over; not for ever, since one may never come. */
  private void awaitBoth(CompletableFuture<?> first, CompletableFuture<?> second) throws Exception {
    long until = System.nanoTime() + LONGEST_HOLD.toNanos();
    while (System.nanoTime() < until) {
      long arrived = on.waiting() + (first.isDone() ? 1 : 0) + (second.isDone() ? 1 : 0);
      if (arrived >= 2) {
        return;
      }
    }
  }

  private static CompletableFuture<Object> begun(
      Verb<?> verb, PostgresQueue postgres, CyclicBarrier start) {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                start.await();
                answer.complete(postgres.answer(verb));
              } catch (InterruptedException | BrokenBarrierException | RuntimeException thrown) {
                answer.complete(thrown);
              }
            });
    return answer;
  }
}
