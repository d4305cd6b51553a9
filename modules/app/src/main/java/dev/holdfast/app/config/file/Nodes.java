package dev.holdfast.app.config.file;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads values of the file. The first argument of each method is where the value is. */
final class Nodes {
  private Nodes() {}

  /** Says what is wrong, without the name of the file. */
  static final class WrongException extends Exception {
    private static final long serialVersionUID = 1L;

    WrongException(String message) {
      super(message);
    }
  }

  static void requireKnown(String at, JsonNode node, List<String> keys) throws WrongException {
    if (!node.isObject()) {
      throw new WrongException(at + " must hold " + String.join(", ", keys));
    }
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      if (!keys.contains(entry.getKey())) {
        throw new WrongException(
            "%s.%s is unknown: it may hold %s"
                .formatted(at, entry.getKey(), String.join(", ", keys)));
      }
    }
  }

  static List<String> words(String at, @Nullable JsonNode node) throws WrongException {
    List<String> words = new ArrayList<>();
    if (node != null && !node.isNull()) {
      if (!node.isArray()) {
        throw new WrongException(at + " must be a list, such as [python3, ./count.py]");
      }
      for (JsonNode word : node) {
        words.add(text(at, word));
      }
    }
    return words;
  }

  static Map<String, String> variables(String at, @Nullable JsonNode node) throws WrongException {
    Map<String, String> variables = new HashMap<>();
    if (node != null && !node.isNull()) {
      if (!node.isObject()) {
        throw new WrongException(at + " must hold NAME: value lines");
      }
      for (Map.Entry<String, JsonNode> entry : node.properties()) {
        variables.put(entry.getKey(), text(at + "." + entry.getKey(), entry.getValue()));
      }
    }
    return variables;
  }

  private static String text(String at, JsonNode node) throws WrongException {
    if (!node.isValueNode() || node.isNull() || node.asText().indexOf('\0') >= 0) {
      throw new WrongException(at + " must hold plain text");
    }
    return node.asText();
  }

  static boolean flag(String at, @Nullable JsonNode node) throws WrongException {
    if (node == null || node.isNull()) {
      return false;
    }
    if (!node.isBoolean()) {
      throw new WrongException(at + " must be true or false");
    }
    return node.asBoolean();
  }

  static @Nullable Integer whole(String at, @Nullable JsonNode node, int least, int most)
      throws WrongException {
    if (node == null || node.isNull()) {
      return null;
    }
    if (!node.canConvertToInt()
        || !node.isIntegralNumber()
        || node.intValue() < least
        || node.intValue() > most) {
      throw new WrongException(
          "%s must be a whole number between %,d and %,d".formatted(at, least, most));
    }
    return node.intValue();
  }
}
