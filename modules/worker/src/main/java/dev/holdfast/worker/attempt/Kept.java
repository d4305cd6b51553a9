package dev.holdfast.worker.attempt;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.RefusedException;

/**
 * What an earlier attempt, a signal or another job has left for this one, in the type that the
 * handler asks for. If that does not fit the job fails for good: a later attempt would read the
 * same. It is kept, and read by a retry once the handler is mended.
 */
final class Kept {
  private Kept() {}

  /**
   * @param what it is, for the message
   */
  static <T> T as(PayloadType<T> type, Json json, Codec codec, String what) {
    try {
      return codec.decode(json, type);
    } catch (RefusedException mismatch) {
      throw doesNotFit(what, String.valueOf(mismatch.getMessage()));
    }
  }

  static FailedException doesNotFit(String what, String why) {
    return FailedException.of(
        FailureCategory.DATA_QUALITY,
        Failure.VALIDATION,
        "%s is not what the handler asks for: %s".formatted(what, why));
  }
}
