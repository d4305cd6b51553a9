package dev.holdfast.model.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Expects a refusal of a certain type. */
public final class Refusals {
  private Refusals() {}

  public static AbstractThrowableAssert<?, ? extends Throwable> assertRefused(
      Refusal refusal, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOf(RefusedException.class)
        .satisfies(thrown -> assertThat(((RefusedException) thrown).refusal()).isEqualTo(refusal));
  }
}
