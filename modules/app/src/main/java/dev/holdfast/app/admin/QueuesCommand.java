package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.PauseText;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.operate.KnownQueues;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Plural;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Queues: list, show, pause, resume, limit, rate. */
@Command(
    name = "queues",
    description = "List, show, pause, resume and limit queues.",
    mixinStandardHelpOptions = true,
    subcommands = {
      QueuesCommand.ListCommand.class,
      QueuesShowCommand.class,
      QueuesCommand.PauseCommand.class,
      QueuesCommand.ResumeCommand.class,
      QueuesCommand.LimitCommand.class,
      QueuesCommand.RateCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class QueuesCommand {
  /** Queues that have work or settings. */
  @Command(name = "list", description = "List queues that have unfinished jobs or settings.")
  static final class ListCommand extends ReadCommand<List<QueueOperator.View>> {
    @Override
    protected List<QueueOperator.View> read(Operator operator) {
      return operator.queues().list();
    }

    @Override
    protected Object json(List<QueueOperator.View> queues) {
      return queues;
    }

    @Override
    protected String text(List<QueueOperator.View> queues) {
      Table table =
          new Table(
              "QUEUE",
              "DUE",
              "DELAYED",
              "RETRYING",
              "WAITING",
              "RUNNING",
              "LIMIT",
              "RATE",
              "OLDEST",
              "STATE");
      for (QueueOperator.View view : queues) {
        QueueStatus queue = view.status();
        table.row(
            queue.name(),
            queue.due(),
            queue.delayed(),
            queue.retrying(),
            queue.waiting(),
            queue.running(),
            queue.maxRunning() == null ? "" : queue.maxRunning(),
            queue.rateLimit() == null ? "" : shown(queue.rateLimit()),
            queue.oldest() == null ? "" : Durations.text(queue.oldest()),
            state(view));
      }
      return table.orIfEmpty("no queue has unfinished jobs");
    }
  }

  /** A queue that is not paused by itself is not resumed by its name either. */
  static String state(QueueOperator.View view) {
    QueueStatus queue = view.status();
    if (!queue.isPaused()) {
      return "open";
    }
    return queue.pausedAt() != null ? "paused" + PauseText.of(view.pause()) : "all workers paused";
  }

  private static String shown(RateLimit limit) {
    return limit.starts() + " per " + Durations.text(limit.period());
  }

  /** A queue that nobody has used yet is only changed with this option: it may be a typo. */
  static final class NewOption {
    @Option(names = "--new", description = "also if the queue is not known yet")
    boolean isNew;

    void require(String queue, Operator operator, Settings settings) {
      if (!isNew) {
        KnownQueues.require(queue, operator, settings, " (--new if it is a new queue)");
      }
    }
  }

  /** A command that changes the settings of one queue. */
  abstract static class ChangeCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();
    @Mixin final NewOption may = new NewOption();

    @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue's name")
    String queue = "";

    /** Prints the new setting after the name of the queue. */
    int change(Consumer<QueueOperator> verb, String done) {
      Settings settings = connection.settings();
      try (Operator operator = connection.open(settings)) {
        may.require(queue, operator, settings);
        verb.accept(operator.queues());
        Terminal.println(queue + done);
        return ExitCode.OK;
      }
    }
  }

  /** Stops claims. */
  @Command(name = "pause", description = "Claim no more jobs of a queue; running jobs continue.")
  static final class PauseCommand extends ChangeCommand {
    @Mixin final PauseText why = new PauseText();

    @Override
    public Integer call() {
      return change(queues -> queues.pause(queue, why.reason), " is paused");
    }
  }

  /** Allows claims again. */
  @Command(name = "resume", description = "Claim jobs of a paused queue again.")
  static final class ResumeCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "QUEUE", description = "the queue's name")
    String queue = "";

    @Override
    public Integer call() {
      Settings settings = connection.settings();
      try (Operator operator = connection.open(settings)) {
        KnownQueues.require(queue, operator, settings, "");
        boolean resumed = operator.queues().resume(queue);
        Terminal.println(queue + (resumed ? " is resumed" : " was not paused"));
        return ExitCode.OK;
      }
    }
  }

  /** Limits running jobs. */
  @Command(
      name = "limit",
      description = {
        "Run at most N jobs of a queue at once, over all workers.",
        "Without N, there is no limit."
      })
  static final class LimitCommand extends ChangeCommand {
    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "N",
        description = "the limit; none removes it")
    @Nullable Integer limit;

    @Override
    public Integer call() {
      Limits.maxRunning(limit);
      return change(
          queues -> queues.limit(queue, limit),
          limit == null
              ? " has no limit"
              : " runs at most " + Plural.of(limit, "job") + " at once");
    }
  }

  /** Limits starts over time. */
  @Command(
      name = "rate",
      description = {
        "Start at most N jobs of a queue per time span, over all workers.",
        "Without N, there is no limit."
      })
  static final class RateCommand extends ChangeCommand {
    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "N",
        description = "the limit; none removes it")
    @Nullable Integer starts;

    @Option(names = "--per", paramLabel = "TIME", description = "time span; default: 1s")
    String span = "1s";

    @Override
    public Integer call() {
      RateLimit rate = starts == null ? null : new RateLimit(starts, Input.duration("--per", span));
      return rate == null
          ? change(queues -> queues.rate(queue, null), " has no rate limit")
          : change(
              queues -> queues.rate(queue, rate),
              " starts at most " + Plural.of(rate.starts(), "job") + " per " + span);
    }
  }
}
