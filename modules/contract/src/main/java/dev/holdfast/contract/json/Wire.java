package dev.holdfast.contract.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.holdfast.model.value.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes JSON. Names are camelCase; a reader takes snake_case as well. Values are not
 * converted: a text is no number and a number no date. Unknown fields are refused, except in what
 * workers call back with and in answers.
 */
public final class Wire {
  private static final JsonMapper MAPPER = WireMappers.requests();
  private static final ObjectWriter INDENTED = MAPPER.writer(SerializationFeature.INDENT_OUTPUT);
  private static final ObjectReader KNOWN =
      MAPPER.reader().without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  private static final ObjectReader ANSWERS = WireMappers.answers().reader();
  private static final JsonMapper STORED = WireMappers.stored();

  private Wire() {}

  public static <T> T read(byte[] json, Class<T> type) {
    return read(MAPPER.reader(), json, type);
  }

  /**
   * What a worker calls back with. It may be newer than the server: fields that the server does not
   * know are ignored, the others are checked.
   */
  public static <T> T readKnown(byte[] json, Class<T> type) {
    return read(KNOWN, json, type);
  }

  private static <T> T read(ObjectReader reader, byte[] json, Class<T> type) {
    Utf8.check(json);
    try (JsonParser parser = new OneSpelling(reader.createParser(json))) {
      T value = reader.forType(type).readValue(parser);
      if (value == null) {
        throw new WireException(WireException.Kind.WRONG_VALUE, "an object is expected, not null");
      }
      return value;
    } catch (IOException e) {
      throw WireErrors.explained(e);
    }
  }

  /** What a server answered, as its client reads it. */
  public static <T> T answer(byte[] json, Class<T> type) throws IOException {
    T value = ANSWERS.forType(type).readValue(json);
    if (value == null) {
      throw new IOException("the answer is null");
    }
    return value;
  }

  /** A list that a server answered in a field. */
  public static <T> List<T> answers(byte[] json, String field, Class<T> type) throws IOException {
    JsonNode list = answer(json, JsonNode.class).get(field);
    if (list == null || !list.isArray()) {
      throw new IOException("the answer has no list '" + field + "'");
    }
    List<T> values = new ArrayList<>();
    for (JsonNode each : list) {
      values.add(ANSWERS.treeToValue(each, type));
    }
    return values;
  }

  public static <T> T read(JsonNode json, Class<T> type) {
    try {
      return MAPPER.treeToValue(json, type);
    } catch (IOException e) {
      throw WireErrors.explained(e);
    }
  }

  /** A value as a part of a request; null is there, too. */
  public static JsonNode node(@Nullable Object value) {
    return MAPPER.valueToTree(value);
  }

  public static JsonNode tree(byte[] json) {
    Utf8.check(json);
    try {
      return MAPPER.readTree(json);
    } catch (IOException e) {
      throw WireErrors.explained(e);
    }
  }

  /** JSON that was stored. If it is nested too deep to be read, its text is the value. */
  public static @Nullable JsonNode tree(@Nullable Json json) {
    try {
      return json == null ? null : STORED.readTree(json.text());
    } catch (JsonProcessingException beyond) {
      return TextNode.valueOf(json.text());
    }
  }

  /** The same for a field that is written even if it has no value. */
  public static JsonNode treeOrNullNode(@Nullable Json json) {
    JsonNode tree = tree(json);
    return tree == null ? NullNode.getInstance() : tree;
  }

  /** The reverse; null for a field that is absent or null. */
  public static @Nullable Json json(@Nullable JsonNode tree) {
    return tree == null || tree.isNull() ? null : new Json(tree.toString());
  }

  /** Whether the JSON is an object with this field, without reading what is in it. */
  public static boolean hasField(byte[] json, String field) {
    Utf8.check(json);
    try (JsonParser parser = MAPPER.getFactory().createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return false;
      }
      String name;
      while ((name = parser.nextFieldName()) != null) {
        if (name.equals(field)) {
          return true;
        }
        parser.nextToken();
        parser.skipChildren();
      }
      return false;
    } catch (IOException e) {
      throw WireErrors.explained(e);
    }
  }

  public static byte[] write(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static String text(Object value) {
    return text(MAPPER.writer(), value);
  }

  /** On several lines, for people. */
  public static String indented(Object value) {
    return text(INDENTED, value);
  }

  private static String text(ObjectWriter writer, Object value) {
    try {
      return writer.writeValueAsString(value);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  public static <T> T present(String field, @Nullable T value) {
    if (value == null) {
      throw new WireException(WireException.Kind.MISSING_FIELD, "field '" + field + "' is missing");
    }
    return value;
  }
}
