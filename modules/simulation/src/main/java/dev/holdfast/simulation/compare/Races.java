package dev.holdfast.simulation.compare;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.queue.JobStore;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.ModelQueue;
import dev.holdfast.simulation.queue.ModelVerbs;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.RecordedVerbs;
import dev.holdfast.simulation.trace.Call;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.jspecify.annotations.Nullable;

/**
 * Two calls at once on PostgreSQL, about the same jobs. What each job becomes, and what it is
 * answered, must be what the model has after one of the two orders; the reaper and a heartbeat may
 * also leave out what they find locked. No two calls may ever lock each other out.
 */
public final class Races {
  private static final int JOBS = 6;
  private static final Duration LONGEST_HOLD = Duration.ofMillis(200);
  private static final Duration FOR = Duration.ofSeconds(30);
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final String LEASE = "30000";
  private static final long LATER = 31_000_000;
  private static final long BEGIN = 1_000_000;

  private final Comparison on;

  public Races(Comparison on) {
    this.on = on;
  }

  /** What went wrong first in so many rounds; null when nothing did. */
  public @Nullable String differs(long seed, int rounds) throws Exception {
    try (JobStore store = on.open()) {
      PostgresVerbs postgres = on.verbs(store);
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

  private @Nullable String round(Random random, PostgresVerbs postgres) throws Exception {
    on.empty();
    postgres.time(0);
    List<Call> before = state(random);
    for (Call call : before) {
      postgres.time(call.micros());
      String unused = RecordedVerbs.repeat(call, postgres);
    }
    long now = BEGIN + (random.nextBoolean() ? LATER : 0);
    postgres.time(now);
    Call one = racing(random, now, true);
    Call two = racing(random, now, false);
    int locked = random.nextInt(JOBS);
    List<String> answers = atOnce(one, two, postgres, locked);
    List<String> rows = postgres.rows();
    List<List<String>> allowed =
        List.of(
            serial(before, one, two),
            serial(before, two, one),
            serial(before, one),
            serial(before, two));
    for (int job = 0; job < JOBS; job++) {
      List<String> told =
          new ArrayList<>(List.of(told(one, answers.get(0), job), told(two, answers.get(1), job)));
      Collections.sort(told);
      String found = rows.get(job) + String.join("", told);
      Set<String> expected = new HashSet<>();
      for (List<String> order : allowed) {
        expected.add(order.get(job));
      }
      if (job == locked) {
        expected.addAll(passedOver(before, job, one, two));
      }
      if (!expected.contains(found)) {
        return "%s%n  beside%n%s%nfound:    %s%nexpected: %s"
            .formatted(one, two, found, String.join("\n      or: ", expected));
      }
    }
    return null;
  }

  /** A heartbeat that finds the row of a job locked says that it is held, and writes nothing. */
  private static List<String> passedOver(List<Call> before, int job, Call... calls) {
    List<String> passed = new ArrayList<>();
    String found = serial(before).get(job);
    for (Call call : calls) {
      if (call.verb().equals("heartbeat")) {
        // The second one may find it locked as well.
        found += " heartbeat:" + (job + 1) + "#1";
        passed.add(found);
      }
    }
    return passed;
  }

  /** Six jobs that run, on two workers. */
  private static List<Call> state(Random random) {
    List<Call> calls = new ArrayList<>();
    RecordedVerbs model = recorded(calls, BEGIN);
    for (int i = 1; i <= JOBS; i++) {
      model.enqueue(JobSpec.of(i, "kind", "q", "payload"));
    }
    model.claim("q", JOBS / 2, "w0", FOR, GRACE);
    model.claim("q", JOBS / 2, "w1", FOR, GRACE);
    if (random.nextBoolean()) {
      // They are no longer in batches.
      List<Lease> all = new ArrayList<>();
      for (int i = 1; i <= JOBS; i++) {
        all.add(new Lease(JobSpec.id(i), 1));
      }
      model.heartbeat(all, FOR);
    }
    return calls;
  }

  private static RecordedVerbs recorded(List<Call> calls, long now) {
    return new RecordedVerbs(
        new ModelVerbs(new ModelQueue(new PlainCodec(), () -> now)),
        () -> now,
        () -> "-",
        calls::add);
  }

  /** The first keeps or settles leases; the second may also take them away. */
  private static Call racing(Random random, long now, boolean first) {
    List<Integer> jobs = new ArrayList<>();
    for (int i = 1; i <= JOBS; i++) {
      jobs.add(i);
    }
    Collections.shuffle(jobs, random);
    int chosen = random.nextInt(first ? 4 : 6);
    List<String> leases = jobs.stream().map(job -> job + "#1").toList();
    return switch (chosen) {
      case 0 -> call(now, "heartbeat", with(LEASE, leases));
      case 1 ->
          call(
              now,
              "settle",
              leases.stream()
                  .map(lease -> "fail\t" + lease + "\tUSER_CODE\tCODE\tmessage\ttrue\t1000")
                  .toList());
      case 2 ->
          call(now, "settle", leases.stream().map(lease -> "succeed\t" + lease + "\t-").toList());
      case 3 -> call(now, "settle", leases.stream().map(l -> "release\t" + l + "\tfalse").toList());
      default -> call(now, "reapAndExpire", List.of("0"));
    };
  }

  private static Call call(long now, String verb, List<String> arguments) {
    return new Call(now, "-", verb, arguments, "");
  }

  private static List<String> with(String first, List<String> rest) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(rest);
    return all;
  }

  /** For each job its row, and what it was told. */
  private static List<String> serial(List<Call> before, Call... calls) {
    long[] now = {0};
    ModelVerbs model = new ModelVerbs(new ModelQueue(new PlainCodec(), () -> now[0]));
    for (Call call : before) {
      now[0] = call.micros();
      String unused = RecordedVerbs.repeat(call, model);
    }
    List<String> answers = new ArrayList<>();
    for (Call call : calls) {
      now[0] = call.micros();
      answers.add(RecordedVerbs.repeat(call, model));
    }
    List<String> rows = new ArrayList<>();
    for (int job = 0; job < JOBS; job++) {
      String row = model.rows().get(job);
      List<String> told = new ArrayList<>();
      for (int i = 0; i < calls.length; i++) {
        told.add(told(calls[i], answers.get(i), job));
      }
      Collections.sort(told);
      rows.add(row + String.join("", told));
    }
    return rows;
  }

  /** What a call was answered about a job. */
  private static String told(Call call, String answer, int job) {
    String prefix = (job + 1) + "#";
    if (call.verb().equals("heartbeat")) {
      for (String each : answer.split(",", -1)) {
        if (each.startsWith(prefix)) {
          return " heartbeat:" + each;
        }
      }
      return "";
    }
    if (call.verb().equals("settle")) {
      for (int i = 0; i < call.arguments().size(); i++) {
        if (call.arguments().get(i).split("\t", -1)[1].startsWith(prefix)) {
          return " settle:" + answer.split(",", -1)[i];
        }
      }
    }
    return "";
  }

  private List<String> atOnce(Call one, Call two, PostgresVerbs postgres, int locked)
      throws Exception {
    CyclicBarrier start = new CyclicBarrier(3);
    CompletableFuture<String> first = begun(one, postgres, start);
    CompletableFuture<String> second = begun(two, postgres, start);
    // Both come upon a row that is locked for a moment, and go on at the same time.
    try (Connection holder = on.connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute(
          "SELECT FROM holdfast.job WHERE id = '%s' FOR UPDATE".formatted(JobSpec.id(locked + 1)));
      start.await();
      awaitBoth(first, second);
      holder.commit();
      holder.setAutoCommit(true);
    }
    return List.of(first.get(), second.get());
  }

  /** Until each waits for a row, or has passed it over; not for ever, since one may never come. */
  private void awaitBoth(CompletableFuture<String> first, CompletableFuture<String> second)
      throws Exception {
    long until = System.nanoTime() + LONGEST_HOLD.toNanos();
    while (System.nanoTime() < until) {
      long arrived = on.waiting() + (first.isDone() ? 1 : 0) + (second.isDone() ? 1 : 0);
      if (arrived >= 2) {
        return;
      }
    }
  }

  private static CompletableFuture<String> begun(
      Call call, PostgresVerbs postgres, CyclicBarrier start) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                start.await();
                answer.complete(RecordedVerbs.repeat(call, postgres));
              } catch (InterruptedException | BrokenBarrierException | RuntimeException thrown) {
                answer.complete("throws " + thrown);
              }
            });
    return answer;
  }
}
