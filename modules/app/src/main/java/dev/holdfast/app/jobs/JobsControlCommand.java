package dev.holdfast.app.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.error.Failures;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Limits;
import dev.holdfast.workspace.WorkspaceJob;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Gives a command to a job that runs in steps. */
@Command(
    name = "control",
    description = {
      "Send a command to a job that runs in steps.",
      "Its worker receives the command with the next heartbeat:",
      "  pause             start no further attempt of a step, until resume",
      "  takeover          stop the running step at once, until resume",
      "  resume            continue",
      "  retry_step        run a step again",
      "  hard_reset_step   run a step again in a new workspace",
      "  resume_from_step  run a step and all steps after it again",
      "  accept_step       after a takeover: the step is done as you left it",
      "The three that run a step again also requeue a job that has ended."
    })
final class JobsControlCommand implements Callable<Integer> {
  private static final int LOOKS = 12;
  private static final Duration LOOK = Duration.ofMillis(250);

  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(index = "0", paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Parameters(
      index = "1",
      paramLabel = "ACTION",
      completionCandidates = Actions.class,
      description = "one of ${COMPLETION-CANDIDATES}")
  String action = "";

  @Option(names = "--step", paramLabel = "ID", description = "the step, for actions on one")
  @Nullable String step;

  @Option(
      names = {"-r", "--reason"},
      paramLabel = "TEXT",
      description = "kept in the timeline")
  String reason = "requested on the command line";

  /** The names of the actions, for help and completion. */
  static final class Actions extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    Actions() {
      super(Stream.of(CommandAction.values()).map(CommandAction::text).toList());
    }
  }

  @Override
  public Integer call() throws InterruptedException {
    ShortId named = ShortId.of(id);
    CommandAction wanted = action();
    try (Operator operator = connection.open()) {
      JobId job = named.in(operator);
      JobOperator.Commanded commanded = commanded(operator.jobs(), job, wanted);
      PendingCommand now = commanded.pending();
      List<String> stepsToRepeat = commanded.stepsToRepeat();
      if (output.json) {
        Shown.print(commanded);
      } else {
        Terminal.println(job + "  " + String.join("; ", lines(now)));
        if (!stepsToRepeat.isEmpty()) {
          Terminal.println(
              "these completed steps will run again: " + String.join(", ", stepsToRepeat));
        }
        if (wanted == CommandAction.TAKEOVER) {
          Terminal.println(handedOver(operator, job));
        }
        if (now.holds() && !inSteps(operator, job)) {
          Terminal.println(
              "no step of it has started: a job that does not run in steps ignores this command");
        }
      }
      return ExitCode.OK;
    }
  }

  private JobOperator.Commanded commanded(JobOperator jobs, JobId job, CommandAction wanted) {
    try {
      return jobs.command(job, wanted, step, reason);
    } catch (OperatorException refused) {
      String instead =
          switch (refused.reason()) {
            case NO_SUCH_STEP ->
                "the job has no step '%s': 'holdfast jobs steps %s' shows those that have started"
                    .formatted(step, job);
            case JOB_ALREADY_TERMINAL ->
                "the job has already ended: "
                    + (refused.state().filter(JobState.RETRYABLE::contains).isEmpty()
                        ? "resume_from_step runs it again from one of its steps"
                        : "retry it with 'holdfast jobs retry %s', or from one of its steps with resume_from_step"
                            .formatted(job));
            default -> throw refused;
          };
      throw new CommandException(Failures.exitCode(refused), instead);
    }
  }

  /** Whether it is known to: the steps of code are not known before they begin. */
  private static boolean inSteps(Operator operator, JobId job) {
    JobDetail found = JobsCommand.existing(operator, job, JobDetail.Part.STEPS);
    return found.job().kind().equals(WorkspaceJob.KIND) || !found.steps().isEmpty();
  }

  private CommandAction action() {
    if (!new Actions().contains(action)) {
      throw new CommandException(
          ExitCode.USAGE, "ACTION must be one of " + String.join(", ", new Actions()));
    }
    CommandAction wanted = CommandAction.of(action);
    if (wanted.isRecovery() != (step != null)) {
      throw new CommandException(
          ExitCode.USAGE,
          step == null ? action + " needs --step" : action + " is for a whole job: omit --step");
    }
    if (step != null) {
      Limits.stepId(step);
    }
    return wanted;
  }

  /** Workers receive a command within a second; a worker that does not answer is not waited for. */
  private static String handedOver(Operator operator, JobId job) throws InterruptedException {
    for (int looks = 0; looks < LOOKS; looks++) {
      JsonNode answer = answer(JobsCommand.existing(operator, job, JobDetail.Part.EVENTS).events());
      if (answer != null) {
        return place(answer).orElse("nothing runs now");
      }
      Thread.sleep(LOOK);
    }
    return "its worker has not answered yet: see 'holdfast jobs show %s'".formatted(job);
  }

  /** Where the operator who has taken the job over finds its workspace. */
  static Optional<String> place(List<JobEvent> timeline) {
    JsonNode answer = answer(timeline);
    return answer == null ? Optional.empty() : place(answer);
  }

  private static Optional<String> place(JsonNode answer) {
    return answer.hasNonNull("workspace")
        ? Optional.of("its workspace is " + answer.get("workspace").asText())
        : Optional.empty();
  }

  /** What the worker answered to the takeover that is in force. */
  private static @Nullable JsonNode answer(List<JobEvent> timeline) {
    for (JobEvent event : timeline.reversed()) {
      if (event.type().equals(EventType.PROCESSING)
          || event.type().equals(EventType.CONTROL + CommandAction.RESUME.text())) {
        return null;
      }
      JsonNode data = Wire.tree(event.data());
      if (event.type().equals(EventType.RECOVERY_ACK)
          && data != null
          && data.path("action").asText().equals(CommandAction.TAKEOVER.text())) {
        return data;
      }
    }
    return null;
  }

  /** The commands that are not executed yet, for people. */
  static List<String> lines(PendingCommand pending) {
    List<String> lines = new ArrayList<>();
    if (pending.takeover()) {
      lines.add("taken over: its worker does nothing until resume");
    } else if (pending.paused()) {
      lines.add("paused: no further attempt of a step starts until resume");
    }
    PendingCommand.Recovery recovery = pending.recovery();
    if (recovery != null) {
      lines.add(
          "%s of '%s' was requested by %s: %s"
              .formatted(
                  recovery.action().text(),
                  recovery.stepId(),
                  recovery.requestedBy(),
                  Terminal.oneLine(recovery.reason())));
    }
    return lines.isEmpty() ? List.of("no command is pending") : lines;
  }
}
