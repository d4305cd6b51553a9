package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Plural;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.Arrays;

/** The changes a step made, as git writes them. */
public final class Patch {
  private final byte[] bytes;

  private Patch(byte[] bytes) {
    this.bytes = bytes;
  }

  public static Patch of(byte[] bytes) {
    if (bytes.length > Limits.PATCH_BYTES) {
      throw new RefusedException(
          Refusal.RESULT_TOO_LARGE,
          "a patch of %,d bytes is over the limit of %,d"
              .formatted(bytes.length, Limits.PATCH_BYTES));
    }
    return new Patch(bytes.clone());
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Patch patch && Arrays.equals(bytes, patch.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return Plural.of(bytes.length, "byte");
  }
}
