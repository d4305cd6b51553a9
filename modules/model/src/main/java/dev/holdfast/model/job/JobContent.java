package dev.holdfast.model.job;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Text that a job must contain. No index covers it, so jobs are scanned for it.
 *
 * @param text in its id, kind, keys, failure or payload
 * @param code of its failure, or of the cause of that
 * @param failure the signature of its failure, if it is FAILED
 * @param payload fields of its payload, all of them
 */
public record JobContent(
    @Nullable String text,
    @Nullable String code,
    @Nullable String failure,
    List<PayloadField> payload) {
  public static final JobContent ANY = new JobContent(null, null, null, List.of());

  public JobContent {
    payload = List.copyOf(payload);
  }

  /**
   * A field of the payload and its value. A value that is also a number or a literal of JSON
   * matches both: {@code 7} matches {@code 7} and {@code "7"}.
   *
   * @param path the names that lead to it, from the outermost on
   */
  public record PayloadField(List<String> path, String value) {
    public PayloadField {
      path = List.copyOf(path);
    }
  }

  public boolean isAny() {
    return equals(ANY);
  }

  public JobContent text(@Nullable String value) {
    return new JobContent(value, code, failure, payload);
  }

  public JobContent code(@Nullable String value) {
    return new JobContent(text, value, failure, payload);
  }

  public JobContent failure(@Nullable String value) {
    return new JobContent(text, code, value, payload);
  }

  public JobContent field(PayloadField field) {
    return new JobContent(
        text, code, failure, Stream.concat(payload.stream(), Stream.of(field)).toList());
  }
}
