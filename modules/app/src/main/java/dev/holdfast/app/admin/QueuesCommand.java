package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.operate.KnownQueues;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.contract.resource.QueueResource;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Plural;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Queues: list, pause, resume, limit, rate. */
@Command(
    name = "queues",
    description = "List, pause, resume and limit queues.",
    mixinStandardHelpOptions = true,
    subcommands = {
      QueuesCommand.ListCommand.class,
      QueuesCommand.PauseCommand.class,
      QueuesCommand.ResumeCommand.class,
      QueuesCommand.LimitCommand.class,
      QueuesCommand.RateCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class QueuesCommand {
  /** Queues that have work or settings. */
  @Command(name = "list", description = "List queues that have unfinished jobs or settings.")
  static final class ListCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions reach = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Override
    public Integer call() {
      try (Operator operator = reach.open()) {
        List<QueueStatus> queues = operator.queues();
        if (output.json) {
          Shown.print(queues.stream().map(QueueResource::of).toList());
        } else {
          print(queues);
        }
        return ExitCode.OK;
      }
    }

    private static void print(List<QueueStatus> queues) {
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
      for (QueueStatus queue : queues) {
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
            queue.pausedAt() == null ? "open" : "paused");
      }
      System.out.print(table.isEmpty() ? "no queue has unfinished jobs\n" : table.toString());
    }
  }

  private static String shown(RateLimit limit) {
    return limit.starts() + " per " + Durations.text(limit.period());
  }

  /** A queue that nobody has used yet is only changed with this option: it may be a typo. */
  static final class NewOption {
    @Option(names = "--new", description = "also if nobody has used the queue yet")
    boolean isNew;

    void require(String queue, Operator operator, Settings settings) {
      if (!isNew) {
        KnownQueues.require(queue, operator, settings, " (--new if nobody has used it yet)");
      }
    }
  }

  /** Stops claims. */
  @Command(name = "pause", description = "Claim no more jobs of a queue; running jobs continue.")
  static final class PauseCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions reach = new ConnectionOptions();

    @Mixin final NewOption may = new NewOption();

    @Parameters(paramLabel = "QUEUE", description = "the queue's name")
    String queue = "";

    @Override
    public Integer call() {
      Settings settings = reach.settings();
      try (Operator operator = reach.open(settings)) {
        may.require(queue, operator, settings);
        operator.pause(queue);
        System.out.println(queue + " is paused");
        return ExitCode.OK;
      }
    }
  }

  /** Lets claims go on. */
  @Command(name = "resume", description = "Claim jobs of a paused queue again.")
  static final class ResumeCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions reach = new ConnectionOptions();

    @Parameters(paramLabel = "QUEUE", description = "the queue's name")
    String queue = "";

    @Override
    public Integer call() {
      Settings settings = reach.settings();
      try (Operator operator = reach.open(settings)) {
        KnownQueues.require(queue, operator, settings, "");
        boolean resumed = operator.resume(queue);
        System.out.println(queue + (resumed ? " is resumed" : " was not paused"));
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
  static final class LimitCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions reach = new ConnectionOptions();
    @Mixin final NewOption may = new NewOption();

    @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue's name")
    String queue = "";

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "N",
        description = "the limit; none removes it")
    @Nullable Integer limit;

    @Override
    public Integer call() {
      if (limit != null && limit < 1) {
        throw new CommandException(
            ExitCode.USAGE, "a limit of " + limit + " would stop the queue: use 'queues pause'");
      }
      Settings settings = reach.settings();
      try (Operator operator = reach.open(settings)) {
        may.require(queue, operator, settings);
        operator.limit(queue, limit);
        System.out.println(
            queue
                + (limit == null
                    ? " has no limit"
                    : " runs at most " + Plural.of(limit, "job") + " at once"));
        return ExitCode.OK;
      }
    }
  }

  /** Limits starts over time. */
  @Command(
      name = "rate",
      description = {
        "Start at most N jobs of a queue per time span, over all workers.",
        "Without N, there is no limit."
      })
  static final class RateCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions reach = new ConnectionOptions();
    @Mixin final NewOption may = new NewOption();

    @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue's name")
    String queue = "";

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
      if (starts != null && starts < 1) {
        throw new CommandException(
            ExitCode.USAGE, "a rate of " + starts + " would stop the queue: use 'queues pause'");
      }
      Settings settings = reach.settings();
      try (Operator operator = reach.open(settings)) {
        may.require(queue, operator, settings);
        if (starts == null) {
          operator.liftRate(queue);
        } else {
          operator.rate(queue, starts, Input.duration("--per", span));
        }
        System.out.println(
            queue
                + (starts == null
                    ? " has no rate limit"
                    : " starts at most " + Plural.of(starts, "job") + " per " + span));
        return ExitCode.OK;
      }
    }
  }
}
