package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;

/**
 * A version of a kind for which a worker has a handler. A job that has begun with a version is
 * claimed by workers that have it, and by no others.
 */
public record KindVersion(String kind, int version) {
  /** So many of them a worker may have. */
  public static final int MOST = 1_000;

  /** The largest version; the first is 1. */
  public static final int LAST = Short.MAX_VALUE;

  public KindVersion {
    Limits.kind(kind);
    check(version);
  }

  /** Throws an exception that says what a version is. */
  public static int check(int version) {
    if (version < 1 || version > LAST) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "version %d: a version is a number from 1 to %,d".formatted(version, LAST));
    }
    return version;
  }
}
