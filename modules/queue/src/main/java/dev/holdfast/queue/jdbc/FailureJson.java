package dev.holdfast.queue.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import org.jspecify.annotations.Nullable;

/** A failure as stored in the database. */
public final class FailureJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private FailureJson() {}

  public static String write(Failure failure) {
    ObjectNode node =
        MAPPER
            .createObjectNode()
            .put("category", failure.category().name())
            .put("code", storable(failure.code()))
            .put("message", storable(failure.message()))
            .put("retryable", failure.retryable());
    if (failure.stackTrace() != null) {
      node.put("stackTrace", storable(failure.stackTrace()));
    }
    return node.toString();
  }

  public static @Nullable Failure read(@Nullable String json) {
    if (json == null) {
      return null;
    }
    try {
      JsonNode node = MAPPER.readTree(json);
      JsonNode trace = node.get("stackTrace");
      return new Failure(
          FailureCategory.valueOf(node.path("category").asText()),
          node.path("code").asText(),
          node.path("message").asText(),
          trace == null ? null : trace.asText(),
          node.path("retryable").asBoolean(),
          cause(node.get("cause")));
    } catch (JsonProcessingException corrupt) {
      throw new IllegalStateException("a stored failure is not readable: " + json, corrupt);
    }
  }

  private static Failure.@Nullable Cause cause(@Nullable JsonNode node) {
    return node == null
        ? null
        : new Failure.Cause(node.path("code").asText(), node.path("message").asText());
  }

  /**
   * A failure must be recorded whatever its text: half a surrogate pair is no reason to lose it.
   */
  private static String storable(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints()
        .map(
            c ->
                c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
                    ? 0xFFFD
                    : c)
        .forEach(clean::appendCodePoint);
    return clean.toString();
  }
}
