package dev.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Expects a refusal of a certain type. */
final class Refusals {
  private Refusals() {}

  static AbstractThrowableAssert<?, ? extends Throwable> assertRefused(
      Refusal refusal, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOf(RefusedException.class)
        .satisfies(thrown -> assertThat(((RefusedException) thrown).refusal()).isEqualTo(refusal));
  }
}
