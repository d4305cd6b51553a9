package dev.holdfast.steps;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class StepLoopTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final String SECRET = "hunter2hunter2";

  private final Memory journal = new Memory();
  private final ReceivedCommands commands = new ReceivedCommands();
  private final AtomicInteger resets = new AtomicInteger();
  private final AtomicInteger tries = new AtomicInteger();
  private final List<Step.Retry> retries = new CopyOnWriteArrayList<>();
  private Budgets budgets = new Budgets(3, LONG, LONG, 2, 1);

  private static final class Memory implements StepMetrics {
    final List<Report.Step> lines = new CopyOnWriteArrayList<>();
    final List<Report.Event> told = new CopyOnWriteArrayList<>();
    final List<String> counted = new CopyOnWriteArrayList<>();

    Journal journal() {
      return new Journal(new Lease(JobId.next(), 1), TestCodec.CODEC, this::write, this);
    }

    private void write(Report report) {
      if (report instanceof Report.Step step) {
        lines.add(step);
      } else {
        told.add((Report.Event) report);
      }
    }

    @Override
    public void count(String metric, Map<String, String> tags) {
      counted.add(metric + tags);
    }

    @Override
    public void time(String metric, Map<String, String> tags, Duration took) {
      counted.add(metric + tags);
    }

    List<Object> acknowledged() {
      return told.stream().map(event -> map(event.data()).getOrDefault("action", "")).toList();
    }

    List<String> events() {
      return lines.stream()
          .flatMap(line -> line.events().stream())
          .map(Report.Entry::type)
          .map(type -> type.replace("task.", "").replace("step.attempt.", ""))
          .toList();
    }

    Map<String, Object> data(String type) {
      return lines.stream()
          .flatMap(line -> line.events().stream())
          .filter(event -> event.type().equals(type))
          .findFirst()
          .map(event -> map(event.data()))
          .orElseThrow();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Json data) {
      return TestCodec.CODEC.decode(data, Map.class);
    }
  }

  private StepLoop loop() {
    return new StepLoop(
        Duration.ofMillis(200),
        0,
        journal.journal(),
        commands,
        text -> text.replace(SECRET, "***"));
  }

  private Step<String> step(Callable<String> body) {
    return new Step<>() {
      @Override
      public String id() {
        return "embed";
      }

      @Override
      public int index() {
        return 2;
      }

      @Override
      public int begun() {
        return 4;
      }

      @Override
      public boolean comesAfter(String other) {
        return other.equals("download");
      }

      @Override
      public String attempt(Retry retry) throws Exception {
        tries.incrementAndGet();
        retries.add(retry);
        return body.call();
      }

      @Override
      public Saved save(String result, int attempt) {
        return new Saved(new Json("\"" + result + "\""), null, left());
      }

      @Override
      public void hardReset() {
        resets.incrementAndGet();
      }
    };
  }

  private static PendingCommand asked(CommandAction action, String step) {
    return new PendingCommand(
        false,
        false,
        new PendingCommand.Recovery(action, step, "ada", "why not", Instant.EPOCH),
        null);
  }

  private static PendingCommand held(CommandAction action, String reason) {
    return new PendingCommand(
        action == CommandAction.PAUSE,
        action == CommandAction.TAKEOVER,
        null,
        new PendingCommand.HeldBy("bob", reason));
  }

  @Test
  void a_step_that_works_is_tried_once_and_leaves_its_checkpoint() throws Exception {
    assertThat(loop().run(step(() -> "made"), budgets)).isEqualTo("made");
    assertThat(journal.events()).containsExactly("started", "finished");
    Report.Step last = journal.lines.getLast();
    assertThat(last.state()).isEqualTo(StepState.DONE);
    assertThat(last.attempt()).isEqualTo(5);
    assertThat(last.checkpoint()).isEqualTo(new Json("\"made\""));
    assertThat(journal.counted).containsExactly(StepLoop.DURATION + "{outcome=done}");
  }

  @Test
  void a_transient_failure_is_healed_by_a_soft_reset_and_counted() throws Exception {
    Step<String> flaky =
        step(
            () -> {
              if (tries.get() == 1) {
                throw new IllegalStateException("connection reset, password=" + SECRET);
              }
              return "made";
            });
    assertThat(loop().run(flaky, budgets)).isEqualTo("made");
    assertThat(journal.events())
        .containsExactly("started", "failed", "self_heal.triggered", "started", "finished");
    assertThat(journal.data(EventType.HEAL_TRIGGERED))
        .containsEntry("stepId", "embed")
        .containsEntry("stepIndex", 2)
        .containsEntry("attempt", 5)
        .containsEntry("failureClass", "transient_runtime")
        .containsEntry("strategy", "soft_reset")
        .containsKey("failureSignature");
    assertThat(journal.lines.toString()).doesNotContain(SECRET);
    assertThat(journal.counted)
        .contains(
            StepLoop.ATTEMPTS + "{class=transient_runtime, strategy=soft_reset, outcome=recovered}",
            StepLoop.RECOVERED + "{class=transient_runtime, strategy=soft_reset}");
    assertThat(resets).hasValue(0);
    Step.Failed told = Objects.requireNonNull(retries.getLast().last());
    assertThat(told.summary()).contains("connection reset").doesNotContain(SECRET);
    assertThat(retries.getLast().attempt()).isEqualTo(6);
  }

  @Test
  void what_fails_alike_again_is_reset_and_then_given_back_to_the_queue() {
    assertThatThrownBy(
            () ->
                loop()
                    .run(
                        step(
                            () -> {
                              throw new IllegalStateException("row " + tries.get() + " is missing");
                            }),
                        budgets))
        .isInstanceOfSatisfying(
            FailedException.class,
            failed -> {
              assertThat(failed.failure().retryable()).isTrue();
              assertThat(failed.failure().code()).isEqualTo("STUCK_NO_PROGRESS");
            });
    assertThat(tries).hasValue(4);
    assertThat(resets).hasValue(1);
    assertThat(journal.events())
        .containsExactly(
            "started",
            "failed",
            "self_heal.triggered",
            "started",
            "failed",
            "self_heal.escalated",
            "started",
            "failed",
            "self_heal.triggered",
            "started",
            "failed",
            "self_heal.exhausted");
    assertThat(journal.lines.stream().filter(Report.Step::reset)).hasSize(1);
    assertThat(journal.counted)
        .contains(
            StepLoop.NO_PROGRESS + "{}",
            StepLoop.ATTEMPTS
                + "{class=stuck_no_progress, strategy=queue_retry, outcome=exhausted}",
            StepLoop.EXHAUSTED + "{class=stuck_no_progress, strategy=queue_retry}");
  }

  @Test
  void what_is_deterministic_fails_at_once_and_says_so() {
    assertThatThrownBy(
            () ->
                loop()
                    .run(
                        step(
                            () -> {
                              throw new StepException(
                                  FailureClass.DETERMINISTIC_POLICY, "not on a Sunday");
                            }),
                        budgets))
        .isInstanceOfSatisfying(
            FailedException.class, failed -> assertThat(failed.failure().retryable()).isFalse());
    assertThat(tries).hasValue(1);
    assertThat(journal.events()).containsExactly("started", "failed", "self_heal.exhausted");
    assertThat(journal.data(EventType.HEAL_EXHAUSTED))
        .containsEntry("failureClass", "deterministic_policy")
        .containsEntry("strategy", "fail");
  }

  @Test
  void one_that_hangs_is_stopped_and_tried_again() throws Exception {
    budgets = new Budgets(3, LONG, Duration.ofSeconds(2), 2, 1);
    Step<String> hanging =
        step(
            () -> {
              if (tries.get() == 1) {
                new CountDownLatch(1).await();
              }
              return "made";
            });
    assertThat(loop().run(hanging, budgets)).isEqualTo("made");
    assertThat(journal.counted).contains(StepLoop.IDLE_TIMEOUTS + "{}");
    assertThat(journal.data(EventType.STEP_FAILED))
        .containsEntry("failureClass", "stuck_no_progress");
  }

  @Test
  void one_that_gives_signs_of_life_for_ever_is_stopped_by_the_clock() throws Exception {
    budgets = new Budgets(3, Duration.ofSeconds(4), Duration.ofSeconds(3), 2, 1);
    StepLoop loop = loop();
    Step<String> busy =
        step(
            () -> {
              while (tries.get() == 1) {
                loop.alive();
                Thread.sleep(1);
              }
              return "made";
            });
    assertThat(loop.run(busy, budgets)).isEqualTo("made");
    assertThat(journal.counted)
        .contains(StepLoop.WALL_TIMEOUTS + "{}")
        .doesNotContain(StepLoop.IDLE_TIMEOUTS + "{}");
  }

  @Test
  void one_that_ignores_being_stopped_is_left_behind_and_keeps_nobody_else_alive()
      throws Exception {
    budgets = new Budgets(3, LONG, Duration.ofMillis(100), 5, 1);
    CountDownLatch end = new CountDownLatch(1);
    StepLoop loop = loop();
    List<String> results = new ArrayList<>();
    Step<String> stubborn =
        step(
            () -> {
              int mine = tries.get();
              if (mine == 1) {
                while (end.getCount() > 0) {
                  if (tries.get() > 1) {
                    loop.alive();
                  }
                  boolean ignored = Thread.interrupted();
                  LockSupport.parkNanos(ignored ? 2 : 1_000);
                }
              }
              if (mine == 2) {
                // Silent: the signs of life of the first one must not save it.
                new CountDownLatch(1).await();
              }
              return "made by " + mine;
            });
    try {
      results.add(loop.run(stubborn, budgets));
    } finally {
      end.countDown();
    }
    assertThat(results).containsExactly("made by 3");
    assertThat(journal.data(EventType.STEP_FAILED).toString()).contains("ignored being stopped");
  }

  @Test
  void a_pause_lets_the_attempt_go_on_and_holds_up_the_next_one() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    CompletableFuture<String> result =
        running(
            step(
                () -> {
                  if (tries.get() == 1) {
                    begun.countDown();
                    goOn.await();
                    throw new IllegalStateException("once");
                  }
                  return "made";
                }));
    begun.await();
    commands.heard(held(CommandAction.PAUSE, "the API is down"));
    goOn.countDown();
    await().atMost(SOON).until(() -> journal.acknowledged().equals(List.of("pause")));
    assertThat(journal.events()).endsWith("self_heal.triggered");
    assertThat(tries).hasValue(1);
    commands.heard(PendingCommand.NONE);
    assertThat(result.get()).isEqualTo("made");
    assertThat(retries.getFirst().operators()).isEqualTo(Step.Operators.NONE);
    assertThat(retries.getLast().operators().requests())
        .containsExactly(new Step.Request(CommandAction.PAUSE, "bob", "the API is down"));
  }

  @Test
  void what_holds_a_job_up_is_acknowledged_once_whatever_else_is_asked_meanwhile()
      throws Exception {
    commands.heard(held(CommandAction.PAUSE, "one thing"));
    CompletableFuture<String> result = running(step(() -> "made"));
    await().atMost(SOON).until(() -> journal.acknowledged().equals(List.of("pause")));
    commands.heard(
        new PendingCommand(true, false, asked(CommandAction.RETRY_STEP, "embed").recovery(), null));
    commands.heard(held(CommandAction.TAKEOVER, "another"));
    await().atMost(SOON).until(() -> journal.acknowledged().size() > 1);
    assertThat(journal.acknowledged()).containsExactly("pause", "takeover");
    assertThat(journal.lines).isEmpty();
    commands.heard(asked(CommandAction.RETRY_STEP, "embed"));
    assertThat(result.get()).isEqualTo("made");
    assertThat(retries.getLast().operators().requests())
        .as("all that was said, in order, for the attempt that begins then")
        .containsExactly(
            new Step.Request(CommandAction.PAUSE, "bob", "one thing"),
            new Step.Request(CommandAction.TAKEOVER, "bob", "another"),
            new Step.Request(CommandAction.RETRY_STEP, "ada", "why not"));
  }

  @Test
  void a_takeover_stops_the_attempt_and_costs_no_budget() throws Exception {
    CompletableFuture<String> result = hangingOnce();
    commands.heard(held(CommandAction.TAKEOVER, "by hand"));
    await().atMost(SOON).until(() -> journal.acknowledged().equals(List.of("takeover")));
    assertThat(journal.events()).containsExactly("started", "failed");
    commands.heard(PendingCommand.NONE);
    assertThat(result.get()).isEqualTo("made");
    assertThat(retries.getLast().last()).isNull();
  }

  @Test
  void a_hard_reset_that_an_operator_wants_is_done_at_once_and_acknowledged() throws Exception {
    CompletableFuture<String> result = hangingOnce();
    commands.heard(asked(CommandAction.HARD_RESET_STEP, "embed"));
    assertThat(result.get()).isEqualTo("made");
    assertThat(resets).hasValue(1);
    assertThat(journal.events())
        .containsExactly(
            "started", "failed", "resume.from_step", "control.recovery.ack", "started", "finished");
    assertThat(journal.lines.get(2).honoured()).isEqualTo(Instant.EPOCH);
    assertThat(journal.data(EventType.RECOVERY_ACK)).containsEntry("requestedBy", "ada");
    assertThat(retries.getLast().operators().requests())
        .containsExactly(new Step.Request(CommandAction.HARD_RESET_STEP, "ada", "why not"));
  }

  @Test
  void a_request_for_another_step_leads_there_with_all_that_was_said() {
    commands.heard(held(CommandAction.PAUSE, "the file was cut off"));
    commands.heard(asked(CommandAction.RESUME_FROM_STEP, "download"));
    assertThatThrownBy(() -> loop().run(step(() -> "made"), budgets))
        .isInstanceOf(RedirectException.class)
        .hasMessage("resume_from_step download");
    assertThat(tries).hasValue(0);
    assertThat(commands.said())
        .containsExactly(new Step.Request(CommandAction.PAUSE, "bob", "the file was cut off"));
  }

  @Test
  void a_request_for_a_later_step_waits_for_it() throws Exception {
    commands.heard(asked(CommandAction.RETRY_STEP, "upload"));
    assertThat(loop().run(step(() -> "made"), budgets)).isEqualTo("made");
    assertThat(commands.pending()).isPresent();
  }

  @Test
  void an_interrupt_stops_everything_and_is_told() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch passedOn = new CountDownLatch(1);
    CompletableFuture<String> result = new CompletableFuture<>();
    Step<String> hanging =
        step(
            () -> {
              begun.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException stopped) {
                passedOn.countDown();
              }
              return "too late";
            });
    Thread handler = Thread.ofVirtual().start(() -> complete(result, hanging));
    begun.await();
    handler.interrupt();
    passedOn.await();
    assertThatThrownBy(result::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(InterruptedException.class);
    assertThat(journal.events()).containsExactly("started", "failed");
    assertThat(journal.lines.getLast().state()).isEqualTo(StepState.INTERRUPTED);
  }

  /** Returns when its first attempt hangs; the second one works. */
  private CompletableFuture<String> hangingOnce() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<String> result =
        running(
            step(
                () -> {
                  if (tries.get() == 1) {
                    begun.countDown();
                    new CountDownLatch(1).await();
                  }
                  return "made";
                }));
    begun.await();
    return result;
  }

  private CompletableFuture<String> running(Step<String> step) {
    CompletableFuture<String> result = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> complete(result, step));
    return result;
  }

  private void complete(CompletableFuture<String> result, Step<String> step) {
    try {
      result.complete(loop().run(step, budgets));
    } catch (Throwable thrown) {
      result.completeExceptionally(thrown);
    }
  }
}
