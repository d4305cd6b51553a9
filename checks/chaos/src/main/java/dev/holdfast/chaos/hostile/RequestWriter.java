package dev.holdfast.chaos.hostile;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Makes requests at random from the OpenAPI document of a server: some as they should be, most with
 * wrong values in the path, the query, headers and body, some that are no HTTP at all.
 */
final class RequestWriter {
  /** One request, as the bytes that are sent. Requests are not compared. */
  @SuppressWarnings("ArrayRecordComponent")
  record Request(String summary, byte[] bytes, boolean endsConnection) {}

  private record Operation(String method, String path, JsonNode definition) {}

  private static final int DEEPEST = 4;
  private static final int SOME_KB = 20_000;

  private final JsonNode document;
  private final List<Operation> operations = new ArrayList<>();
  private final HostileValues values;
  private final Random random;
  private final @Nullable String key;

  /** Whether the values of this request are as the document asks for. */
  private boolean valid;

  /**
   * @param key an API key that most requests carry; null for a server without keys
   */
  RequestWriter(JsonNode document, long seed, @Nullable String key) {
    this.document = document;
    this.random = new Random(seed);
    this.values = new HostileValues(random);
    this.key = key;
    for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        if (isSent(path.getKey(), method.getKey())) {
          operations.add(
              new Operation(
                  method.getKey().toUpperCase(Locale.ROOT), path.getKey(), method.getValue()));
        }
      }
    }
  }

  /** Not what would lock out this client. */
  private static boolean isSent(String path, String method) {
    return !method.equals("parameters")
        && !path.startsWith("/v1/keys")
        && !path.startsWith("/v1/signing-keys");
  }

  Request next() {
    return random.nextInt(50) == 0 ? malformed() : ofOperation();
  }

  // ---- requests that are HTTP

  private Request ofOperation() {
    Operation operation = operations.get(random.nextInt(operations.size()));
    valid = random.nextInt(3) == 0;
    String target = target(operation);
    String method = random.nextInt(40) == 0 ? values.method() : operation.method();
    byte[] body = body(operation);
    StringBuilder head = new StringBuilder();
    head.append(method).append(' ').append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
    if (random.nextInt(20) == 0) {
      head.append("Authorization: ").append(HostileValues.printable(values.text())).append("\r\n");
    } else if (key != null) {
      head.append("Authorization: Bearer ").append(key).append("\r\n");
    }
    for (JsonNode parameter : operation.definition().path("parameters")) {
      if (resolved(parameter).path("in").asText().equals("header") && random.nextInt(3) == 0) {
        head.append(resolved(parameter).path("name").asText())
            .append(": ")
            .append(HostileValues.printable(values.text()))
            .append("\r\n");
      }
    }
    if (random.nextInt(30) == 0) {
      head.append("X-Long: ").append("x".repeat(random.nextInt(SOME_KB))).append("\r\n");
    }
    if (body.length > 0 || operation.definition().has("requestBody")) {
      head.append("Content-Type: ")
          .append(random.nextInt(20) == 0 ? values.contentType() : "application/json")
          .append("\r\n");
    }
    head.append("Content-Length: ").append(body.length).append("\r\n\r\n");
    byte[] start = head.toString().getBytes(StandardCharsets.UTF_8);
    return new Request(method + " " + target + " " + summary(body), joined(start, body), false);
  }

  private String target(Operation operation) {
    StringBuilder target = new StringBuilder();
    for (String part : operation.path().substring(1).split("/", -1)) {
      target
          .append('/')
          .append(part.startsWith("{") ? HostileValues.encoded(values.segment()) : part);
    }
    char separator = '?';
    for (JsonNode parameter : operation.definition().path("parameters")) {
      JsonNode query = resolved(parameter);
      if (query.path("in").asText().equals("query") && random.nextInt(3) == 0) {
        String value =
            !valid && random.nextBoolean()
                ? values.text()
                : valid(query.path("schema"), 0).replace("\"", "");
        target
            .append(separator)
            .append(query.path("name").asText())
            .append('=')
            .append(HostileValues.encoded(value));
        separator = '&';
      }
    }
    return target.toString();
  }

  private byte[] body(Operation operation) {
    JsonNode content = operation.definition().path("requestBody").path("content");
    if (content.isMissingNode()) {
      return random.nextInt(20) == 0 ? values.text().getBytes(StandardCharsets.UTF_8) : new byte[0];
    }
    JsonNode schema = content.path("application/json").path("schema");
    if (schema.isMissingNode()) {
      byte[] file = new byte[random.nextInt(2_000)];
      random.nextBytes(file);
      return file;
    }
    JsonNode example = example(content.path("application/json"));
    if (valid && !example.isMissingNode() && random.nextBoolean()) {
      return example.toString().getBytes(StandardCharsets.UTF_8);
    }
    String json = valid(schema, 0);
    return switch (valid ? 12 : random.nextInt(12)) {
      case 0 -> values.text().getBytes(StandardCharsets.UTF_8);
      case 1 ->
          json.substring(0, random.nextInt(json.length() + 1)).getBytes(StandardCharsets.UTF_8);
      case 2 -> values.damaged(json.getBytes(StandardCharsets.UTF_8));
      case 3 -> values.json(DEEPEST).getBytes(StandardCharsets.UTF_8);
      default -> json.getBytes(StandardCharsets.UTF_8);
    };
  }

  private JsonNode example(JsonNode media) {
    List<JsonNode> examples = new ArrayList<>();
    media.path("examples").forEach(each -> examples.add(each.path("value")));
    return examples.isEmpty()
        ? media.path("example")
        : examples.get(random.nextInt(examples.size()));
  }

  /** What the schema asks for, with a hostile value here and there. */
  private String valid(JsonNode given, int depth) {
    JsonNode schema = resolved(given);
    if (!valid && random.nextInt(12) == 0) {
      return values.json(2);
    }
    if (schema.has("oneOf") || schema.has("anyOf")) {
      JsonNode choices = schema.path(schema.has("oneOf") ? "oneOf" : "anyOf");
      return valid(choices.get(random.nextInt(choices.size())), depth);
    }
    if (schema.has("allOf")) {
      return valid(schema.path("allOf").get(0), depth);
    }
    if (schema.has("enum")) {
      return schema.path("enum").get(random.nextInt(schema.path("enum").size())).toString();
    }
    JsonNode type = schema.path("type");
    return switch (type.isArray() ? type.get(0).asText() : type.asText()) {
      case "object" -> object(schema, depth);
      case "array" -> {
        List<String> items = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0 && depth < DEEPEST; i--) {
          items.add(valid(schema.path("items"), depth + 1));
        }
        yield "[" + String.join(",", items) + "]";
      }
      case "integer" -> Integer.toString(integer(schema));
      case "number" -> Double.toString(random.nextDouble() * 100);
      case "boolean" -> Boolean.toString(random.nextBoolean());
      case "string" -> string(schema);
      default -> valid ? "{\"a\":1}" : values.json(1);
    };
  }

  private int integer(JsonNode schema) {
    int least = schema.path("minimum").asInt(0);
    return least
        + random.nextInt(Math.max(1, schema.path("maximum").asInt(least + 99) - least + 1));
  }

  private String object(JsonNode schema, int depth) {
    List<String> fields = new ArrayList<>();
    List<String> required = new ArrayList<>();
    schema.path("required").forEach(name -> required.add(name.asText()));
    for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
      boolean wanted = required.contains(property.getKey()) && (valid || random.nextInt(15) > 0);
      if (depth < DEEPEST && (wanted || random.nextInt(valid ? 10 : 3) == 0)) {
        fields.add(
            HostileValues.quoted(property.getKey()) + ":" + valid(property.getValue(), depth + 1));
      }
    }
    if (!valid && random.nextInt(15) == 0) {
      fields.add(HostileValues.quoted(values.text()) + ":" + values.json(2));
    }
    return "{" + String.join(",", fields) + "}";
  }

  private String string(JsonNode schema) {
    return switch (schema.path("format").asText()) {
      case "uuid" -> HostileValues.quoted(values.uuid());
      case "date-time" -> HostileValues.quoted("2026-01-01T00:00:00Z");
      // On this machine, where nobody listens.
      case "uri" -> HostileValues.quoted("http://127.0.0.1:1/");
      default -> HostileValues.quoted("a" + random.nextInt(5));
    };
  }

  private JsonNode resolved(JsonNode node) {
    JsonNode reference = node.path("$ref");
    return reference.isMissingNode() ? node : document.at(reference.asText().substring(1));
  }

  // ---- what is no HTTP

  private Request malformed() {
    byte[] bytes =
        switch (random.nextInt(8)) {
          case 0 -> {
            byte[] garbage = new byte[1 + random.nextInt(500)];
            random.nextBytes(garbage);
            yield garbage;
          }
          case 1 -> lines("GET / HTTP/1.1", "", "");
          case 2 -> lines("GET /v1/jobs HTTP/9.9", "Host: x", "", "");
          case 3 -> post("Transfer-Encoding: chunked", "", "zz", "{}", "0", "", "");
          case 4 -> post("Content-Length: 5", "Content-Length: 6", "", "{}abc");
          case 5 -> post("Content-Length: -1", "", "{}");
          case 6 -> lines("GET /" + "a".repeat(SOME_KB) + " HTTP/1.1", "Host: x", "", "");
          default -> lines("GET /v1/jobs HTTP/1.1", "Host: x", ": empty", " \tfolded\0: x", "", "");
        };
    return new Request("malformed: " + summary(bytes), bytes, true);
  }

  private static byte[] post(String... further) {
    byte[] start = lines("POST /v1/jobs HTTP/1.1", "Host: x", "Content-Type: application/json", "");
    return joined(start, lines(further));
  }

  private static byte[] lines(String... lines) {
    return String.join("\r\n", lines).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] joined(byte[] head, byte[] body) {
    byte[] all = Arrays.copyOf(head, head.length + body.length);
    System.arraycopy(body, 0, all, head.length, body.length);
    return all;
  }

  private static String summary(byte[] bytes) {
    byte[] start = bytes.length > 300 ? Arrays.copyOf(bytes, 300) : bytes;
    for (byte each : start) {
      if (each < ' ' || each > '~') {
        return "0x" + HexFormat.of().formatHex(start);
      }
    }
    return new String(start, StandardCharsets.US_ASCII);
  }
}
