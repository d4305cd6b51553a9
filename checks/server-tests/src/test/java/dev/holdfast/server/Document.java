package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import dev.holdfast.contract.OpenApi;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.routing.Router;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/** The API document, against which every request and response of the tests is validated. */
public final class Document {
  public static final JsonNode TREE = read(OpenApi.yaml());

  private static final String NAME = "https://holdfast.test/openapi";
  private static final Set<String> METHODS = Set.of("get", "put", "post", "patch", "delete");
  private static final Router ROUTER = new Router(routes());
  private static final SchemaRegistry SCHEMAS =
      SchemaRegistry.withDefaultDialect(
          SpecificationVersion.DRAFT_2020_12,
          builder ->
              builder
                  .schemas(Map.of(NAME, strict(TREE.deepCopy()).toString()))
                  .schemaRegistryConfig(
                      SchemaRegistryConfig.builder().formatAssertionsEnabled(true).build()));
  private static final Map<String, Schema> USED = new ConcurrentHashMap<>();

  private Document() {}

  public static JsonNode read(byte[] yaml) {
    try {
      return YAMLMapper.builder().build().readTree(yaml);
    } catch (IOException malformed) {
      throw new UncheckedIOException(malformed);
    }
  }

  /** The documented routes, without handlers. */
  public static List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : TREE.get("paths").properties()) {
      for (Map.Entry<String, JsonNode> operation : path.getValue().properties()) {
        if (METHODS.contains(operation.getKey())) {
          routes.add(
              new Route(
                  operation.getKey().toUpperCase(Locale.ROOT),
                  path.getKey(),
                  guard(operation.getValue()),
                  0,
                  queries(operation.getKey(), path.getKey()),
                  call -> Answer.ok("")));
        }
      }
    }
    return routes;
  }

  /** The parameters that are documented for the query. */
  public static Set<String> queries(String method, String template) {
    JsonNode path = TREE.get("paths").get(template);
    Set<String> names = new TreeSet<>();
    for (JsonNode parameter : path.path(method.toLowerCase(Locale.ROOT)).path("parameters")) {
      String reference = parameter.path("$ref").asText();
      JsonNode described = reference.isEmpty() ? parameter : TREE.at(reference.substring(1));
      if (described.path("in").asText().equals("query")) {
        names.add(described.get("name").asText());
      }
    }
    return names;
  }

  private static Guard guard(JsonNode operation) {
    JsonNode security = operation.path("security");
    if (security.isArray() && security.isEmpty()) {
      return Guard.OPEN;
    }
    return security.path(0).has("taskToken") ? Guard.TASK : Guard.READ;
  }

  /** Clients must ignore unknown fields; our own responses have only documented ones. */
  private static JsonNode strict(JsonNode node) {
    node.forEach(Document::strict);
    if (node instanceof ObjectNode object
        && object.path("properties").isObject()
        && !object.has("additionalProperties")) {
      object.put("additionalProperties", false);
    }
    return node;
  }

  public static void checkRequest(String method, String path, JsonNode body) {
    Route route = ROUTER.find(method, path).route();
    check(content(operation(route) + "/requestBody", Answer.JSON), body, method + " " + path);
  }

  public static void checkAnswer(
      String method, String path, int status, String type, JsonNode body) {
    String what = "%s %s: %d %s".formatted(method, path, status, body);
    String response;
    try {
      response = response(ROUTER.find(method, path).route(), status);
    } catch (Problem nowhere) {
      assertThat(status).as(what).isIn(nowhere.status(), 403, 400);
      response = "/components/responses/" + (status == 405 ? "Other" : name(status));
    }
    JsonNode contents = TREE.at(response).path("content");
    String plain = type.split(";", 2)[0].strip();
    assertThat(contents.has(plain)).as(() -> what + " is not to be of type " + plain).isTrue();
    // Where a page is documented, it may also say to people what is wrong.
    assertThat(plain.equals(Answer.PROBLEM_JSON) || plain.equals("text/html") && status >= 400)
        .as(() -> what + " is of type " + plain)
        .isEqualTo(status >= 400);
    if (plain.equals(Answer.JSON) || plain.equals(Answer.PROBLEM_JSON)) {
      check(content(response, plain), body, what);
    }
  }

  private static String name(int status) {
    return switch (status) {
      case 400 -> "BadRequest";
      case 403 -> "Forbidden";
      default -> "NotFound";
    };
  }

  private static String response(Route route, int status) {
    String responses = operation(route) + "/responses/";
    boolean named = !TREE.at(responses + status).isMissingNode();
    assertThat(named || Set.of(405, 406, 414, 431, 500).contains(status))
        .as(() -> route.method() + " " + route.template() + " is not documented to give " + status)
        .isTrue();
    String found = responses + (named ? status : "default");
    JsonNode reference = TREE.at(found).path("$ref");
    return reference.isTextual() ? reference.asText().substring(1) : found;
  }

  private static String operation(Route route) {
    return "/paths/"
        + route.template().replace("/", "~1")
        + "/"
        + route.method().toLowerCase(Locale.ROOT);
  }

  private static String content(String within, String type) {
    return within + "/content/" + type.replace("/", "~1") + "/schema";
  }

  public static void check(String schema, JsonNode value, String what) {
    List<Error> errors =
        USED.computeIfAbsent(
                schema, pointer -> SCHEMAS.getSchema(SchemaLocation.of(NAME + "#" + pointer)))
            .validate(value);
    assertThat(errors).as(what).isEmpty();
  }
}
