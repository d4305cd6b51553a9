package dev.holdfast.worker.steps;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A step with scripted attempts, and a journal in memory. */
abstract class StepLoopFixture {
  static final Duration LONG = Duration.ofMinutes(1);
  static final String SECRET = "hunter2hunter2";

  final Memory journal = new Memory();
  final ReceivedCommands commands = new ReceivedCommands();
  final AtomicInteger resets = new AtomicInteger();
  final AtomicInteger tries = new AtomicInteger();
  final List<Step.Retry> retries = new CopyOnWriteArrayList<>();
  Budgets budgets = new Budgets(3, LONG, LONG, 2, 1);

  static final class Memory implements StepMetrics {
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

    List<Map<String, Object>> all(String type) {
      return lines.stream()
          .flatMap(line -> line.events().stream())
          .filter(event -> event.type().equals(type))
          .map(event -> map(event.data()))
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

  StepLoop loop() {
    return new StepLoop(
        Duration.ofMillis(200),
        0,
        journal.journal(),
        commands,
        text -> text.replace(SECRET, "***"));
  }

  /** The result, of a step that ends where it began. */
  static String done(StepEnd<String> end) {
    if (end instanceof StepEnd.Done<String>(var result)) {
      return result;
    }
    throw new AssertionError("not done: " + end);
  }

  String run(Callable<String> body) throws InterruptedException {
    return done(loop().run(step(body), budgets));
  }

  /** With a workspace of which only the resets are noticed. */
  Step<String> step(Callable<String> body) {
    return step(body, true);
  }

  Step<String> step(Callable<String> body, boolean inWorkspace) {
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
      public int attemptsBefore() {
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
        return new Saved(new Json("\"" + result + "\""), null, Left.NOTHING);
      }

      @Override
      public Optional<StepWorkspace<String>> workspace() {
        return inWorkspace ? Optional.of(new CountedResets()) : Optional.empty();
      }
    };
  }

  private final class CountedResets implements StepWorkspace<String> {
    @Override
    public void prepare() {}

    @Override
    public String accept(Recovery by) {
      return "by hand";
    }

    @Override
    public Step.Left left() {
      return Step.Left.NOTHING;
    }

    @Override
    public Optional<Instant> lastChange() {
      return Optional.empty();
    }

    @Override
    public boolean isLost() {
      return false;
    }

    @Override
    public Optional<Path> place() {
      return Optional.empty();
    }

    @Override
    public void handedOver() {}

    @Override
    public Optional<String> snapshot() {
      return Optional.empty();
    }

    @Override
    public List<String> changedSince(String snapshot) {
      return List.of();
    }

    @Override
    public Step.@Nullable Failed before() {
      return null;
    }

    @Override
    public void failed(FailedAttempt failure, String summary, Strategy next) {}

    @Override
    public void hardReset() {
      resets.incrementAndGet();
    }
  }
}
