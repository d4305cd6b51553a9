package dev.holdfast.worker;

import dev.holdfast.model.Lease;
import dev.holdfast.model.Patch;
import dev.holdfast.model.Pulse;
import dev.holdfast.model.StepStatus;
import dev.holdfast.steps.Interventions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What the steps of one attempt need of its worker. */
record StepSource(Lease lease, WorkerOptions options, Metrics metrics, PatientSource source)
    implements RunContext.Healer {
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
    for (Pulse pulse : source.ask(it -> it.heartbeat(List.of(lease), time))) {
      interventions.heard(pulse.control());
    }
    return source.ask(it -> it.steps(lease));
  }
}
