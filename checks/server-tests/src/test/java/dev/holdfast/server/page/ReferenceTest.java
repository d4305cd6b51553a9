package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.OpenApi;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.server.Client;
import dev.holdfast.server.Document;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.routing.ExceptionProblems;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.testkit.TestDatabase;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

public class ReferenceTest extends ServerTest {
  /** A problem as it stands in the source: its status and its name. */
  private static final Pattern PROBLEM =
      Pattern.compile("new Problem\\(\\s*(\\d{3}),\\s*\"([a-z_]+)\"");

  private static final Pattern UNAUTHORIZED = Pattern.compile("unauthorized\\(\\s*\"([a-z_]+)\"");

  private static final Set<String> KEYWORDS =
      Set.of(
          ("$ref type format description enum const default example examples pattern minimum maximum"
                  + " minLength maxLength minItems maxItems uniqueItems minProperties maxProperties"
                  + " properties required items additionalProperties oneOf anyOf allOf not"
                  + " exclusiveMinimum deprecated title propertyNames writeOnly readOnly")
              .split(" "));

  ReferenceTest(TestDatabase db) {
    super(db);
  }

  @Test
  void the_document_is_valid_openapi() {
    SwaggerParseResult result =
        new OpenAPIV3Parser()
            .readContents(new String(OpenApi.yaml(), StandardCharsets.UTF_8), null, null);
    assertThat(result.getMessages()).isEmpty();
    assertThat(result.getOpenAPI().getPaths()).isNotEmpty();
  }

  /** A comma in a text without quotes would begin another keyword, and parsers let that pass. */
  @Test
  void schemas_use_only_known_keywords() {
    Document.TREE.at("/components/schemas").forEach(ReferenceTest::assertSchema);
  }

  private static void assertSchema(JsonNode schema) {
    schema
        .properties()
        .forEach(
            keyword -> {
              assertThat(KEYWORDS).contains(keyword.getKey());
              switch (keyword.getKey()) {
                case "properties" -> keyword.getValue().forEach(ReferenceTest::assertSchema);
                case "items", "additionalProperties" -> {
                  if (keyword.getValue().isObject()) {
                    assertSchema(keyword.getValue());
                  }
                }
                case "oneOf", "anyOf", "allOf" ->
                    keyword.getValue().forEach(ReferenceTest::assertSchema);
                default -> {}
              }
            });
  }

  @Test
  void the_documented_routes_and_their_permissions_are_those_of_the_server() {
    try (HoldfastServer own = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0))) {
      assertThat(Document.routes().stream().map(ReferenceTest::line))
          .containsExactlyInAnyOrderElementsOf(
              own.routes().stream().map(ReferenceTest::line).toList());
    }
  }

  @Test
  void a_parameter_that_is_not_documented_is_refused_on_every_route() {
    for (Route route : Document.routes()) {
      String path = route.template().replaceAll("\\{[a-zA-Z]+}", JobId.next().toString());
      if (route.guard() instanceof Guard.TaskToken) {
        continue;
      }
      client
          .send(
              client
                  .request(path + "?nobodyKnowsThis=1", null)
                  .method(route.method(), HttpRequest.BodyPublishers.noBody()))
          .is(422, "unknown_parameter");
    }
  }

  @Test
  void the_parameters_of_each_route_are_the_documented_ones() {
    try (HoldfastServer own = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0))) {
      for (Route route : own.routes()) {
        assertThat(route.queries())
            .as(route.template())
            .isEqualTo(Document.queries(route.method(), route.template()));
      }
    }
  }

  private static String line(Route route) {
    String shown =
        switch (route.guard()) {
          case Guard.Open open -> "nothing";
          case Guard.AnyKey key -> "a key";
          case Guard.Needs key -> "a key";
          case Guard.TaskToken token -> "a token";
        };
    return route.method() + " " + route.template() + " for " + shown;
  }

  @Test
  void every_error_in_the_source_is_documented_under_its_status() throws IOException {
    Set<String> given = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("../../modules/server/src/main/java"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        String source = Files.readString(file);
        Matcher problem = PROBLEM.matcher(source);
        while (problem.find()) {
          given.add(problem.group(1) + " " + problem.group(2));
        }
        Matcher unauthorized = UNAUTHORIZED.matcher(source);
        while (unauthorized.find()) {
          given.add("401 " + unauthorized.group(1));
        }
      }
    }
    assertThat(given).hasSizeGreaterThan(20);
    assertThat(documentedErrors()).containsAll(given);
  }

  @Test
  void every_rejection_is_documented_under_its_status() {
    assertThat(documentedErrors())
        .containsAll(
            Stream.of(Refusal.values())
                .map(refusal -> ExceptionProblems.refused(new RefusedException(refusal, "no")))
                .map(problem -> problem.status() + " " + problem.error())
                .toList());
  }

  /** As "404 not_found"; what comes under "default" is said of the statuses it stands for. */
  private static Set<String> documentedErrors() {
    Set<String> errors = new TreeSet<>();
    for (JsonNode path : Document.TREE.get("paths")) {
      for (JsonNode operation : path) {
        for (Map.Entry<String, JsonNode> response : operation.path("responses").properties()) {
          names(resolved(response.getValue()).at("/content/application~1problem+json/schema"))
              .forEach(name -> errors.add(status(response.getKey(), name) + " " + name));
        }
      }
    }
    return errors;
  }

  private static String status(String documented, String name) {
    return switch (name) {
      case "method_not_allowed" -> "405";
      case "not_acceptable" -> "406";
      case "uri_too_long" -> "414";
      case "headers_too_large" -> "431";
      case "internal" -> "500";
      default -> documented;
    };
  }

  private static List<String> names(JsonNode schema) {
    JsonNode at = resolved(schema);
    if (at.has("oneOf")) {
      return Stream.of(at.get("oneOf").get(0), at.get("oneOf").get(1))
          .flatMap(each -> names(each).stream())
          .toList();
    }
    JsonNode error = at.path("properties").path("error");
    return error.has("const")
        ? List.of(error.get("const").asText())
        : error.path("enum").valueStream().map(JsonNode::asText).toList();
  }

  private static JsonNode resolved(JsonNode node) {
    return node.has("$ref") ? Document.TREE.at(node.get("$ref").asText().substring(1)) : node;
  }

  @Test
  void every_example_matches_its_schema() {
    int[] checked = {0};
    examples("", Document.TREE, checked);
    assertThat(checked[0]).isGreaterThan(15);
  }

  private static void examples(String pointer, JsonNode node, int[] checked) {
    if (node.has("schema") && node.has("example") && !node.has("in")) {
      Document.check(pointer + "/schema", node.get("example"), pointer);
      checked[0]++;
    }
    if (node.has("schema") && node.path("examples").isObject()) {
      for (JsonNode example : node.get("examples")) {
        Document.check(pointer + "/schema", example.get("value"), pointer);
        checked[0]++;
      }
    }
    node.properties()
        .forEach(
            field ->
                examples(
                    pointer + "/" + field.getKey().replace("~", "~0").replace("/", "~1"),
                    field.getValue(),
                    checked));
  }

  @Test
  void the_document_is_served_unchanged() {
    Client.Reply reply = client.get("/openapi.yaml", null);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.response().body())
        .isEqualTo(new String(OpenApi.yaml(), StandardCharsets.UTF_8));
    assertThat(client.get("/api/openapi.yaml", null).status()).isEqualTo(200);
  }

  @Test
  void the_document_is_also_served_as_json() {
    Client.Reply reply = client.get("/openapi.json", null);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.response().headers().firstValue("Content-Type")).contains("application/json");
    assertThat(reply.body()).isEqualTo(Document.TREE);
  }

  @Test
  void everything_in_the_document_is_described() {
    List<String> without = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : Document.TREE.get("paths").properties()) {
      path.getValue().path("parameters").forEach(each -> mustSay(path.getKey(), each, without));
      for (JsonNode operation : path.getValue()) {
        operation.path("parameters").forEach(each -> mustSay(path.getKey(), each, without));
        if (operation.has("operationId")) {
          mustSay(path.getKey(), operation, without);
        }
      }
    }
    for (String kind : List.of("parameters", "responses", "securitySchemes")) {
      Document.TREE
          .at("/components/" + kind)
          .properties()
          .forEach(each -> mustSay(each.getKey(), each.getValue(), without));
    }
    Document.TREE
        .at("/components/schemas")
        .properties()
        .forEach(
            each -> {
              mustSay(each.getKey(), each.getValue(), without);
              propertiesMustSay(each.getKey(), each.getValue(), without);
            });
    assertThat(without).isEmpty();
  }

  /** A reference is described by what it refers to. */
  private static void mustSay(String name, JsonNode node, List<String> without) {
    if (!node.has("$ref") && node.path("description").asText().isBlank()) {
      without.add(name + ": " + node.path("name").asText());
    }
  }

  private static void propertiesMustSay(String name, JsonNode schema, List<String> without) {
    for (Map.Entry<String, JsonNode> each : schema.path("properties").properties()) {
      mustSay(name + "." + each.getKey(), each.getValue(), without);
      propertiesMustSay(name + "." + each.getKey(), each.getValue(), without);
    }
    if (schema.path("items").isObject()) {
      propertiesMustSay(name + "[]", schema.get("items"), without);
    }
  }

  @Test
  void the_page_of_the_reference_allows_scripts_and_styles_of_this_server_only() {
    HttpResponse<String> response = client.get("/docs", null).response();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
    assertThat(response.body())
        .doesNotContain("javascript:", "style=", "onload", "http:", "https:")
        .doesNotContainPattern("<script(?! src=\"/page/)")
        .doesNotContainPattern("<link(?! rel=\"(icon|stylesheet)\" href=\"/page/)");
    assertThat(response.headers().firstValue("Content-Security-Policy").orElse(""))
        .startsWith(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;")
        .contains("connect-src 'self'", "base-uri 'none'", "form-action 'none'")
        .contains("frame-ancestors 'none'")
        .doesNotContain("unsafe", "http:", "https:", "*");
    assertThat(response.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    assertThat(response.headers().firstValue("X-Frame-Options")).contains("DENY");
    assertThat(response.headers().firstValue("Referrer-Policy")).contains("no-referrer");
  }

  @Test
  void every_file_that_the_page_of_the_reference_loads_is_served() {
    Matcher file =
        Pattern.compile("(?:src|href)=\"(/page/[^\"]+)\"")
            .matcher(client.get("/docs", null).response().body());
    int files = 0;
    while (file.find()) {
      files++;
      assertThat(client.get(file.group(1), null).status()).as(file.group(1)).isEqualTo(200);
    }
    assertThat(files).isEqualTo(5);
  }
}
