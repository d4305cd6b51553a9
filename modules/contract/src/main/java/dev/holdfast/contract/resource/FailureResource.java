package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import org.jspecify.annotations.Nullable;

/**
 * How an attempt failed.
 *
 * @param cause the failure of the last attempt, where this one only says that there is no other
 * @param stackTrace absent where the trace was not read, null where there is none
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record FailureResource(
    FailureCategory category,
    String code,
    String message,
    boolean retryable,
    @JsonInclude(JsonInclude.Include.NON_NULL) Failure.@Nullable Cause cause,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable JsonNode stackTrace) {
  public FailureResource {
    Wire.present("category", category);
    Wire.present("code", code);
    Wire.present("message", message);
  }

  public static @Nullable FailureResource of(@Nullable Failure failure) {
    return of(failure, false);
  }

  static @Nullable FailureResource of(@Nullable Failure failure, boolean withoutStackTrace) {
    if (failure == null) {
      return null;
    }
    String trace = failure.stackTrace();
    return new FailureResource(
        failure.category(),
        failure.code(),
        failure.message(),
        failure.retryable(),
        failure.cause(),
        withoutStackTrace
            ? null
            : trace == null ? NullNode.getInstance() : TextNode.valueOf(trace));
  }

  static @Nullable Failure failure(@Nullable FailureResource resource) {
    return resource == null ? null : resource.failure();
  }

  private Failure failure() {
    return new Failure(
        category,
        code,
        message,
        stackTrace == null || stackTrace.isNull() ? null : stackTrace.asText(),
        retryable,
        cause);
  }
}
