package dev.holdfast.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** A schema in a few words, with links to those that have names. */
public final class SchemaText {
  private SchemaText() {}

  public static String anchor(String schema) {
    return "schema-" + schema;
  }

  /** What may stand there. */
  static String type(JsonNode schema) {
    if (schema.has("$ref")) {
      String name = name(schema.get("$ref").asText());
      return Html.link(anchor(name), name);
    }
    if (schema.has("oneOf")) {
      return all(schema.get("oneOf")).map(SchemaText::type).collect(Collectors.joining(" or "));
    }
    if (schema.has("const")) {
      return Html.code(schema.get("const").asText());
    }
    if (schema.has("enum")) {
      return all(schema.get("enum"))
          .map(value -> Html.code(value.asText()))
          .collect(Collectors.joining(", "));
    }
    if (schema.has("items")) {
      return "list of " + type(schema.get("items"));
    }
    return schema.has("type") ? word(schema) : "any JSON";
  }

  private static String word(JsonNode schema) {
    JsonNode type = schema.get("type");
    String words =
        type.isArray()
            ? all(type).map(JsonNode::asText).collect(Collectors.joining(" or "))
            : type.asText();
    return Html.escaped(
        schema.has("format") ? words + " (" + schema.get("format").asText() + ")" : words);
  }

  /** The limits of it, and what it means. */
  static String meaning(JsonNode schema) {
    List<String> parts = new ArrayList<>();
    String description = Html.line(schema.path("description").asText());
    if (!description.isEmpty()) {
      parts.add(description);
    }
    range(parts, schema, "minimum", "maximum", "");
    range(parts, schema, "minLength", "maxLength", " characters");
    range(parts, schema, "minItems", "maxItems", " items");
    if (schema.has("pattern")) {
      parts.add(Html.code(schema.get("pattern").asText()));
    }
    if (schema.has("default")) {
      parts.add(Html.escaped("unless given: " + schema.get("default").asText()));
    }
    return String.join(" · ", parts);
  }

  private static void range(
      List<String> parts, JsonNode schema, String least, String most, String unit) {
    if (schema.has(least) && schema.has(most)) {
      parts.add(schema.get(least).asLong() + " to " + schema.get(most).asLong() + unit);
    } else if (schema.has(least)) {
      parts.add(schema.get(least).asLong() + unit + " or more");
    } else if (schema.has(most)) {
      parts.add(schema.get(most).asLong() + unit + " at most");
    }
  }

  static String name(String ref) {
    return ref.substring(ref.lastIndexOf('/') + 1);
  }

  private static java.util.stream.Stream<JsonNode> all(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false);
  }
}
