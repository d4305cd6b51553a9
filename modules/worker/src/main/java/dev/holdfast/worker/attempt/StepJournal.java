package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.value.Codec;
import dev.holdfast.steps.Journal;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/** Writes how steps get on into the job's timeline, as reports of the attempt that holds it. */
final class StepJournal implements Journal {
  private final Lease lease;
  private final Codec codec;
  private final Metrics metrics;
  private final Consumer<Report> tell;

  /**
   * @param tell returns once it is durable
   */
  StepJournal(Lease lease, Codec codec, Metrics metrics, Consumer<Report> tell) {
    this.lease = lease;
    this.codec = codec;
    this.metrics = metrics;
    this.tell = tell;
  }

  @Override
  public void write(Line line) {
    tell.accept(
        new Report.Step(
            lease,
            line.stepId(),
            line.index(),
            line.state(),
            line.attempt(),
            line.reset(),
            line.checkpoint(),
            line.patch(),
            line.forgetFrom(),
            line.honoured(),
            line.events().stream()
                .map(event -> new Report.Entry(event.type(), codec.encode(event.data())))
                .toList()));
  }

  @Override
  public void tell(Event event) {
    tell.accept(new Report.Event(lease, event.type(), codec.encode(event.data())));
  }

  @Override
  public void count(String metric, Map<String, String> tags) {
    metrics.count(metric, tags, 1);
  }

  @Override
  public void time(String metric, Map<String, String> tags, Duration took) {
    metrics.time(metric, tags, took);
  }
}
