package dev.holdfast.server.worker;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Json;
import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What makes two completions of one attempt the same: the outcome, and its output or its failure. A
 * client that builds its body anew for a repetition may send another time, other metrics, another
 * stack trace, or the fields of the output in another order.
 */
final class CompletionDigest {
  private CompletionDigest() {}

  static String of(Settlement settlement) {
    return Secrets.digest(
        switch (settlement) {
          case Settlement.Succeed succeed -> "SUCCEEDED " + canonical(succeed.result());
          case Settlement.Continue next -> "CONTINUED " + canonical(next.payload());
          case Settlement.Fail fail -> "FAILED " + canonical(fail.failure());
          case Settlement.Cancel cancel -> "CANCELLED";
          case Settlement.Snooze snooze -> "SNOOZED";
          case Settlement.Release release -> "RELEASED";
        });
  }

  private static String canonical(Failure failure) {
    return "%s %s %s %s"
        .formatted(failure.category(), failure.code(), failure.retryable(), failure.message());
  }

  /** Equal for JSON that PostgreSQL takes for equal: in whatever order, and 1.0 like 1. */
  private static String canonical(@Nullable Json json) {
    StringBuilder text = new StringBuilder();
    append(text, Wire.treeOrNullNode(json));
    return text.toString();
  }

  private static void append(StringBuilder text, JsonNode node) {
    if (node.isObject()) {
      Map<String, JsonNode> sorted = new TreeMap<>();
      node.properties().forEach(field -> sorted.put(field.getKey(), field.getValue()));
      text.append('{');
      sorted.forEach(
          (name, value) -> {
            text.append(Wire.text(name)).append(':');
            append(text, value);
            text.append(',');
          });
      text.append('}');
    } else if (node.isArray()) {
      text.append('[');
      for (JsonNode element : node) {
        append(text, element);
        text.append(',');
      }
      text.append(']');
    } else if (node.isNumber()) {
      BigDecimal number = node.decimalValue().stripTrailingZeros();
      text.append(number);
    } else {
      text.append(node);
    }
  }
}
