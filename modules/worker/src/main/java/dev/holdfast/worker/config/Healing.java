package dev.holdfast.worker.config;

import dev.holdfast.redaction.Scrubber;
import dev.holdfast.steps.Budgets;
import java.util.List;

/**
 * How a worker heals steps.
 *
 * @param scrubber hides secrets in all that is kept of a failure
 */
public record Healing(Budgets budgets, Scrubber scrubber) {
  public static final Healing DEFAULT = new Healing(Budgets.DEFAULT, Scrubber.knowing(List.of()));
}
