package dev.holdfast.worker.steps;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Pauses, takeovers, resets and interrupts in the middle of a step. */
class StepLoopCommandsTest extends StepLoopFixture {
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
  void a_pause_lets_the_attempt_finish_and_delays_the_next_one() throws Exception {
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
    commands.onCommand(held(CommandAction.PAUSE, "the API is down"));
    goOn.countDown();
    await().atMost(SOON).until(() -> journal.acknowledged().equals(List.of("pause")));
    assertThat(journal.events()).endsWith("self_heal.triggered");
    assertThat(tries).hasValue(1);
    commands.onCommand(PendingCommand.NONE);
    assertThat(result.get()).isEqualTo("made");
    assertThat(retries.getFirst().operators()).isEqualTo(Step.Operators.NONE);
    assertThat(retries.getLast().operators().requests())
        .containsExactly(new Step.Request(CommandAction.PAUSE, "bob", "the API is down"));
  }

  @Test
  void a_pause_and_a_takeover_are_acknowledged_once_while_other_commands_arrive() throws Exception {
    commands.onCommand(held(CommandAction.PAUSE, "one thing"));
    CompletableFuture<String> result = running(step(() -> "made"));
    await().atMost(SOON).until(() -> journal.acknowledged().equals(List.of("pause")));
    commands.onCommand(
        new PendingCommand(true, false, asked(CommandAction.RETRY_STEP, "embed").recovery(), null));
    commands.onCommand(held(CommandAction.TAKEOVER, "another"));
    await().atMost(SOON).until(() -> journal.acknowledged().size() > 1);
    assertThat(journal.acknowledged()).containsExactly("pause", "takeover");
    assertThat(journal.lines).isEmpty();
    commands.onCommand(asked(CommandAction.RETRY_STEP, "embed"));
    assertThat(result.get()).isEqualTo("made");
    assertThat(retries.getLast().operators().requests())
        .as("all commands in order, for the next attempt")
        .containsExactly(
            new Step.Request(CommandAction.PAUSE, "bob", "one thing"),
            new Step.Request(CommandAction.TAKEOVER, "bob", "another"),
            new Step.Request(CommandAction.RETRY_STEP, "ada", "why not"));
  }

  @Test
  void a_takeover_stops_the_attempt_and_uses_no_budget() throws Exception {
    CompletableFuture<String> result = hangingOnce();
    commands.onCommand(held(CommandAction.TAKEOVER, "by hand"));
    await().atMost(SOON).until(() -> journal.acknowledged().equals(List.of("takeover")));
    assertThat(journal.events()).containsExactly("resume.from_step", "started", "failed");
    commands.onCommand(PendingCommand.NONE);
    assertThat(result.get()).isEqualTo("made");
    assertThat(retries.getLast().last()).isNull();
  }

  @Test
  void a_hard_reset_by_an_operator_is_done_at_once_and_acknowledged() throws Exception {
    CompletableFuture<String> result = hangingOnce();
    commands.onCommand(asked(CommandAction.HARD_RESET_STEP, "embed"));
    assertThat(result.get()).isEqualTo("made");
    assertThat(resets).hasValue(1);
    assertThat(journal.events())
        .containsExactly(
            "resume.from_step",
            "started",
            "failed",
            "resume.from_step",
            "control.recovery.ack",
            "started",
            "finished");
    assertThat(journal.lines.get(2).handledCommand()).isEqualTo(Instant.EPOCH);
    assertThat(journal.data(EventType.RECOVERY_ACK)).containsEntry("requestedBy", "ada");
    assertThat(retries.getLast().operators().requests())
        .containsExactly(new Step.Request(CommandAction.HARD_RESET_STEP, "ada", "why not"));
  }

  @Test
  void a_hard_reset_by_an_operator_without_a_workspace_is_left_to_the_caller_once()
      throws Exception {
    commands.onCommand(asked(CommandAction.HARD_RESET_STEP, "embed"));
    StepLoop loop = loop();
    Step<String> code = step(() -> "made", false);
    assertThat(loop.run(code, budgets)).isEqualTo(new StepEnd.CallAgain<String>());
    assertThat(tries).hasValue(0);
    assertThat(done(loop.run(code, budgets))).isEqualTo("made");
    assertThat(journal.events())
        .containsExactly("resume.from_step", "control.recovery.ack", "started", "finished");
  }

  @Test
  void a_hard_reset_that_an_operator_asks_for_beside_that_of_the_loop_is_the_same_one()
      throws Exception {
    StepLoop loop =
        new StepLoop(
            Duration.ofMillis(200),
            0,
            journal.journal(),
            commands,
            text -> {
              // The attempt has failed, and it is not decided yet what comes next.
              commands.onCommand(asked(CommandAction.HARD_RESET_STEP, "embed"));
              return text;
            });
    Step<String> code =
        step(
            () -> {
              if (tries.get() == 1) {
                throw new IllegalStateException("once");
              }
              return "made";
            },
            false);
    budgets = new Budgets(1, LONG, LONG, 2, 1);
    assertThat(loop.run(code, budgets)).isEqualTo(new StepEnd.CallAgain<String>());
    assertThat(done(loop.run(code, budgets))).isEqualTo("made");
    assertThat(commands.pending()).isEmpty();
  }

  @Test
  void a_step_without_a_workspace_cannot_be_done_by_hand() {
    commands.onCommand(asked(CommandAction.ACCEPT_STEP, "embed"));
    assertThatThrownBy(() -> loop().run(step(() -> "made", false), budgets))
        .hasMessageContaining("has no workspace");
    assertThat(tries).hasValue(0);
  }

  @Test
  void a_command_for_another_step_redirects_there_with_all_earlier_commands() throws Exception {
    commands.onCommand(held(CommandAction.PAUSE, "the file was cut off"));
    commands.onCommand(asked(CommandAction.RESUME_FROM_STEP, "download"));
    PendingCommand wanted = asked(CommandAction.RESUME_FROM_STEP, "download");
    assertThat(loop().run(step(() -> "made"), budgets))
        .isEqualTo(new StepEnd.Elsewhere<String>(Objects.requireNonNull(wanted.recovery())));
    assertThat(tries).hasValue(0);
    assertThat(commands.takeRequests())
        .containsExactly(new Step.Request(CommandAction.PAUSE, "bob", "the file was cut off"));
  }

  @Test
  void a_command_for_a_later_step_is_pending_until_that_step() throws Exception {
    commands.onCommand(asked(CommandAction.RETRY_STEP, "upload"));
    assertThat(run(() -> "made")).isEqualTo("made");
    assertThat(commands.pending()).isPresent();
  }

  @Test
  void an_interrupt_stops_everything_and_is_reported() throws Exception {
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
    assertThat(journal.events()).containsExactly("resume.from_step", "started", "failed");
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
      result.complete(done(loop().run(step, budgets)));
    } catch (Throwable thrown) {
      result.completeExceptionally(thrown);
    }
  }
}
