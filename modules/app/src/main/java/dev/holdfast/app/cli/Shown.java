package dev.holdfast.app.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;

/** Prints what programs get with --json. */
public final class Shown {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private Shown() {}

  public static void print(Object value) {
    try {
      System.out.println(MAPPER.writeValueAsString(value));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** One object a line, for what goes on and on. */
  public static void printLine(ObjectNode value) {
    System.out.println(value);
  }

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Short, for tables: 512 B, 3.4 kB, 1.2 GB. */
  public static String bytes(long count) {
    if (count < 1_000) {
      return count + " B";
    }
    double value = count;
    int unit = -1;
    while (value >= 999.95 && unit < 4) {
      value /= 1_000;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %sB", value, "kMGTP".charAt(unit));
  }
}
