package dev.holdfast.workspace;

import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.worker.handler.JobWaits;
import java.util.Locale;
import java.util.Optional;

/**
 * A wait between two steps of a workspace job. While it lasts there is neither a process nor a
 * workspace: the attempt ends, and the next one rebuilds the workspace from the patches of the
 * steps, on whatever machine.
 *
 * <p>A pause or a takeover does not hold it up: what waits runs nothing, and gives back its slot.
 */
final class WorkspaceWait {
  private final WorkspaceRun.Scope scope;
  private final WorkspaceJob.WaitStep step;
  private final int index;
  private final StepHistory history;
  private final JobWorkspace workspace;

  WorkspaceWait(
      WorkspaceRun.Scope scope,
      WorkspaceJob.WaitStep step,
      int index,
      StepHistory history,
      JobWorkspace workspace) {
    this.scope = scope;
    this.step = step;
    this.index = index;
    this.history = history;
    this.workspace = workspace;
  }

  /** Which step comes next. Returns once the wait is over; leaves the handler until then. */
  int passed() {
    Optional<Recovery> wanted = scope.job().asked(scope.commands().pending(), index);
    if (wanted.isPresent()) {
      int there = scope.job().indexOf(wanted.get().stepId());
      if (there != index) {
        return there;
      }
      // What was made after it goes with it.
      history.drop(index);
      workspace.abandon();
    }
    history.mustBe(index, step.id());
    // Also one that was over before this attempt: the one before may not have come to its failure.
    check(history.waited(index).orElseGet(this::await));
    return index + 1;
  }

  private JobWaits.Over await() {
    scope.host().progress(100 * (index - 1) / scope.job().steps().size(), step.shown());
    scope
        .host()
        .log(
            "── step %s waits: %s"
                .formatted(step.id(), step.asked().sort().name().toLowerCase(Locale.ROOT)));
    JobWaits.Over over = scope.host().await(index, asked());
    history.waited(index, step.id(), over);
    return over;
  }

  /** With what the person who decides has to look at. */
  private Wait asked() {
    return switch (step.asked()) {
      case Wait.ForApproval(var id, var question) -> {
        String changes = new ChangesSoFar(scope, history).text(index, question.details());
        yield new Wait.ForApproval(id, question.details(changes));
      }
      case Wait other -> other;
    };
  }

  private void check(JobWaits.Over over) {
    WaitEnd end = over.end();
    switch (end.outcome()) {
      case REJECTED -> {
        if (!step.goesOn()) {
          throw failed(FailureCategory.CANCELLED, Failure.REJECTED, rejected(end));
        }
      }
      case TIMEOUT -> {
        if (step.asked() instanceof Wait.ForApproval(var id, Question question)) {
          throw failed(
              FailureCategory.TIMEOUT,
              Failure.NOT_DECIDED,
              "nobody has decided in time: " + question.text());
        } else if (step.asked() instanceof Wait.ForSignal signal && !step.goesOn()) {
          throw failed(
              FailureCategory.TIMEOUT,
              Failure.NOT_SIGNALLED,
              "the signal '%s' has not come in time".formatted(signal.name()));
        }
      }
      case TIME, SIGNAL, APPROVED, ENDED, FAILED, STARTED -> {}
    }
  }

  private static String rejected(WaitEnd end) {
    String by =
        end.by() == null
            ? "nobody has decided in time, so it is rejected"
            : "rejected by " + end.by();
    return end.comment() == null ? by : by + ": " + end.comment();
  }

  private FailedException failed(FailureCategory category, String code, String why) {
    return new FailedException(
        Failure.of(category, code, "step '%s': %s".formatted(step.id(), why)).withRetryable(false));
  }
}
