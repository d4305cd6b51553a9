package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.steps.Interventions;
import dev.holdfast.worker.config.Healing;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.RetryingSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What the steps of one attempt need of its worker. */
public record StepSource(Lease lease, WorkerOptions options, Metrics metrics, RetryingSource source)
    implements AttemptContext.Healer {
  @Override
  public Healing healing() {
    return options.healing();
  }

  @Override
  public Duration grace() {
    return options.timings().cancelGrace();
  }

  @Override
  public Optional<Patch> patch(String step) {
    return source.ask(it -> it.patch(lease, step));
  }

  @Override
  public List<StepStatus> steps(Interventions interventions) {
    // A pause must hold up the very first step, too.
    Duration time = options.timings().lease();
    for (HeartbeatResult pulse : source.ask(it -> it.heartbeat(List.of(lease), time))) {
      interventions.heard(pulse.control());
    }
    return source.ask(it -> it.steps(lease));
  }
}
