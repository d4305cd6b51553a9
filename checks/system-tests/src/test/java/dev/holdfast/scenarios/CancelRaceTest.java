package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Cancellation.Outcome;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
class CancelRaceTest {
  private static final int RACES = Extent.of(200, 1_000);
  private static final int AT_ONCE = 40;
  private static final Set<String> ENDS =
      Set.of(EventType.DONE, EventType.CANCELLED, EventType.FAILED);

  /** How long the handler runs after it began, and how long the cancel is delayed. */
  record Race(long workMicros, long cancelMicros, boolean beforeItBegins) {
    static Race of(Random random, int number) {
      return switch (number % 4) {
        // Against the claim, against the settle, and against the notice that it was cancelled.
        case 0 -> new Race(0, random.nextInt(5_000), true);
        // On a slow machine a settle takes longer: some of the cancels wait up to half a second.
        case 1, 2 ->
            new Race(random.nextInt(3_000), random.nextInt(5_000) << (number / 4 % 8), false);
        default -> new Race(random.nextInt(900_000), random.nextInt(3_000), false);
      };
    }
  }

  private final Map<JobId, CountDownLatch> begun = new ConcurrentHashMap<>();
  private final Set<JobId> finished = ConcurrentHashMap.newKeySet();

  @Test
  void a_cancel_racing_with_completion_has_one_outcome_and_its_response_agrees(World world)
      throws Exception {
    Random random = new Random(1);
    Map<Outcome, Integer> answers = new EnumMap<>(Outcome.class);
    Map<JobState, Integer> ends = new EnumMap<>(JobState.class);
    try (Worker worker =
            world
                .holdfast()
                .worker("default")
                .concurrency(AT_ONCE)
                .handle("race", Race.class, this::work)
                .start();
        ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
      assertThat(worker.name()).isNotEmpty();
      List<Future<Cancellation>> races = new ArrayList<>();
      for (int i = 0; i < RACES; i++) {
        Race race = Race.of(random, i);
        races.add(threads.submit(() -> run(world, race)));
      }
      for (Future<Cancellation> race : races) {
        check(world, race, answers, ends);
      }
    }
    assertThat(answers.keySet())
        .describedAs("answers %s, ends %s", answers, ends)
        .containsExactlyInAnyOrder(Outcome.CANCELLED, Outcome.REQUESTED, Outcome.ALREADY_TERMINAL);
    assertThat(ends.keySet()).containsExactlyInAnyOrder(JobState.SUCCEEDED, JobState.CANCELLED);
  }

  private Object work(Race race, JobContext context) throws InterruptedException {
    begin(context.id()).countDown();
    TimeUnit.MICROSECONDS.sleep(race.workMicros());
    finished.add(context.id());
    return "finished";
  }

  private CountDownLatch begin(JobId job) {
    return begun.computeIfAbsent(job, id -> new CountDownLatch(1));
  }

  private Cancellation run(World world, Race race) throws InterruptedException {
    Job job = Job.of("race", race);
    world.holdfast().enqueue(job);
    if (!race.beforeItBegins()) {
      assertThat(begin(job.id()).await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(race.cancelMicros()));
    return world.holdfast().cancel(job.id(), "a race").orElseThrow();
  }

  private void check(
      World world,
      Future<Cancellation> race,
      Map<Outcome, Integer> answers,
      Map<JobState, Integer> ends)
      throws InterruptedException, ExecutionException {
    Cancellation cancellation = race.get();
    JobId job = cancellation.job();
    Eventually.until(SOON, "the end of " + job, () -> world.status(job).state().isTerminal());
    JobStatus end = world.status(job);

    // Work that was finished counts, whatever was asked meanwhile; what was not, does not.
    assertThat(end.state())
        .isEqualTo(finished.contains(job) ? JobState.SUCCEEDED : JobState.CANCELLED);
    switch (cancellation.outcome()) {
      case CANCELLED -> assertThat(end.attempt()).isZero();
      case REQUESTED -> assertThat(end.attempt()).isEqualTo(1);
      case ALREADY_TERMINAL ->
          assertThat(cancellation.previousState())
              .isEqualTo(end.state())
              .isEqualTo(JobState.SUCCEEDED);
      case ALREADY_REQUESTED -> throw new AssertionError("nobody else has asked");
    }
    List<String> types = world.timeline(job).types();
    assertThat(types.stream().filter(ENDS::contains)).hasSize(1);
    assertThat(types.getLast())
        .isEqualTo(end.state() == JobState.SUCCEEDED ? EventType.DONE : EventType.CANCELLED);
    answers.merge(cancellation.outcome(), 1, Integer::sum);
    ends.merge(end.state(), 1, Integer::sum);
  }
}
