package dev.holdfast.simulation.queue;

import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Texts, numbers, lists and maps as JSON, the same in every run; reads texts only. */
public final class PlainCodec implements Codec {
  @Override
  public Json encode(Object value) {
    return new Json(text(value));
  }

  private static String text(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case Json json -> json.text();
      case Number number -> number.toString();
      case Boolean bool -> bool.toString();
      case Map<?, ?> map ->
          new TreeMap<Object, Object>(map)
              .entrySet().stream()
                  .map(each -> quoted(each.getKey()) + ":" + text(each.getValue()))
                  .collect(Collectors.joining(",", "{", "}"));
      case Collection<?> all ->
          all.stream().map(PlainCodec::text).collect(Collectors.joining(",", "[", "]"));
      default -> quoted(value);
    };
  }

  private static String quoted(Object value) {
    String plain = value.toString();
    StringBuilder text = new StringBuilder("\"");
    for (int i = 0; i < plain.length(); i++) {
      char c = plain.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ') {
        text.append("\\u%04x".formatted((int) c));
      } else {
        text.append(c);
      }
    }
    return text.append('"').toString();
  }

  @Override
  public <T> T decode(Json json, Class<T> type) {
    String text = json.text().strip();
    return type.cast(
        text.startsWith("\"")
            ? text.substring(1, text.length() - 1).replace("\\\"", "\"").replace("\\\\", "\\")
            : text);
  }
}
