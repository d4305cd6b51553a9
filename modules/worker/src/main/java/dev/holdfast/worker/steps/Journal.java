package dev.holdfast.worker.steps;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.value.Codec;
import java.util.function.Consumer;

/**
 * Where one attempt of a job reports its steps.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param write returns once the report is durable; throws when the attempt no longer holds the job
 * @param announce returns at once; what is written after it comes after it
 */
public record Journal(
    Lease lease,
    Codec codec,
    Consumer<Report> write,
    Consumer<Report> announce,
    StepMetrics metrics) {
  /** That is always waited for. */
  public Journal(Lease lease, Codec codec, Consumer<Report> write, StepMetrics metrics) {
    this(lease, codec, write, write, metrics);
  }
}
