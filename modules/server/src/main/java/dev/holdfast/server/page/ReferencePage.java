package dev.holdfast.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.server.http.Answer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The API's document as a page that can be read in a browser. */
public final class ReferencePage {
  private static final String STYLE =
      """
      :root{color-scheme:light dark;--line:#d4d4d8;--soft:#f4f4f5;--link:#1d4ed8;--dim:#52525b}
      @media(prefers-color-scheme:dark){:root{--line:#3f3f46;--soft:#27272a;--link:#93c5fd;--dim:#a1a1aa}}
      body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:0 auto;padding:1rem}
      a{color:var(--link)}code{font-family:ui-monospace,monospace;font-size:.9em;background:var(--soft);padding:.1em .3em;border-radius:.2em;overflow-wrap:anywhere}
      table{border-collapse:collapse;width:100%;margin:.5rem 0 1rem}td,th{border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
      th{color:var(--dim);font-weight:600}section{border-top:1px solid var(--line);margin-top:1.5rem}nav ul{columns:22rem;list-style:none;padding:0}
      h3 code{background:none}.who{color:var(--dim)}""";

  static final String POLICY =
      "default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
          .formatted(digest(STYLE));

  private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch");

  private final JsonNode document;
  private final Html html = new Html();

  /** One method at one path. */
  private record Operation(String method, String path, JsonNode shared, JsonNode spec) {
    String id() {
      return spec.path("operationId").asText();
    }

    boolean has(String tag) {
      return spec.path("tags").path(0).asText().equals(tag);
    }
  }

  private ReferencePage(JsonNode document) {
    this.document = document;
  }

  public static String of(JsonNode document) {
    ReferencePage page = new ReferencePage(document);
    page.write();
    return page.html.toString();
  }

  private void write() {
    JsonNode info = document.path("info");
    String title = Html.escaped(info.path("title").asText() + " API");
    html.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        .raw("<meta name=\"viewport\" content=\"width=device-width\"><title>" + title + "</title>")
        .raw("<style>" + STYLE + "</style></head><body><h1>" + title + "</h1>")
        .paragraphs(info.path("summary").asText())
        .paragraphs(info.path("description").asText())
        .raw("<p>For programs: <a href=\"/openapi.yaml\">openapi.yaml</a></p>");
    List<Operation> operations = operations();
    contents(operations);
    for (JsonNode tag : document.path("tags")) {
      String name = tag.path("name").asText();
      html.raw("<h2 id=\"" + Html.escaped(name) + "\">" + Html.escaped(name) + "</h2>");
      html.paragraphs(tag.path("description").asText());
      operations.stream().filter(each -> each.has(name)).forEach(this::operation);
    }
    html.raw("<h2 id=\"schemas\">Schemas</h2>");
    document
        .path("components")
        .path("schemas")
        .properties()
        .forEach(schema -> schema(schema.getKey(), schema.getValue()));
    html.raw("</body></html>");
  }

  private List<Operation> operations() {
    List<Operation> found = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        if (METHODS.contains(method.getKey())) {
          found.add(
              new Operation(
                  method.getKey().toUpperCase(Locale.ROOT),
                  path.getKey(),
                  path.getValue().path("parameters"),
                  method.getValue()));
        }
      }
    }
    return found;
  }

  private void contents(List<Operation> operations) {
    html.raw("<nav>");
    for (JsonNode tag : document.path("tags")) {
      String name = tag.path("name").asText();
      html.raw("<h2>" + Html.link(name, name) + "</h2><ul>");
      for (Operation each : operations) {
        if (each.has(name)) {
          html.raw("<li>" + Html.link(each.id(), each.method() + " " + each.path()) + "</li>");
        }
      }
      html.raw("</ul>");
    }
    html.raw("<h2>" + Html.link("schemas", "schemas") + "</h2></nav>");
  }

  private void operation(Operation each) {
    JsonNode spec = each.spec();
    html.raw("<section id=\"" + Html.escaped(each.id()) + "\"><h3>")
        .raw(Html.code(each.method() + " " + each.path()) + "</h3>")
        .raw("<p><strong>" + Html.line(spec.path("summary").asText()) + "</strong></p>")
        .paragraphs(spec.path("description").asText())
        .raw("<p class=\"who\">Shown by the caller: " + shown(spec) + "</p>");
    parameters(each);
    content("Body", spec.path("requestBody").path("content"));
    answers(spec.path("responses"));
    html.raw("</section>");
  }

  private String shown(JsonNode spec) {
    JsonNode security = spec.has("security") ? spec.get("security") : document.path("security");
    if (security.isEmpty()) {
      return "nothing";
    }
    return security.get(0).has("taskToken") ? "the task's token" : "an API key";
  }

  private void parameters(Operation each) {
    List<JsonNode> all = new ArrayList<>();
    each.shared().forEach(all::add);
    each.spec().path("parameters").forEach(all::add);
    if (all.isEmpty()) {
      return;
    }
    html.table("Parameter", "in", "type", "");
    for (JsonNode parameter : all) {
      JsonNode resolved = resolved(parameter);
      JsonNode schema = resolved.path("schema");
      html.row(
          Html.code(resolved.path("name").asText()),
          Html.escaped(resolved.path("in").asText()),
          SchemaText.type(schema),
          Html.line(resolved.path("description").asText()) + " " + SchemaText.meaning(schema));
    }
    html.endTable();
  }

  private void answers(JsonNode responses) {
    html.table("Answer", "", "");
    for (Map.Entry<String, JsonNode> response : responses.properties()) {
      JsonNode resolved = resolved(response.getValue());
      JsonNode schema = resolved.path("content").path(Answer.JSON).path("schema");
      html.row(
          Html.code(response.getKey()),
          Html.line(resolved.path("description").asText()),
          schema.isMissingNode() ? "" : SchemaText.type(schema));
    }
    html.endTable();
    content("For example", responses.path("200").path("content"));
  }

  /** What is sent in it, with the examples there are. */
  private void content(String what, JsonNode content) {
    JsonNode json = content.path(Answer.JSON);
    if (what.equals("Body") && json.has("schema")) {
      html.raw("<p>Body: " + SchemaText.type(json.get("schema")) + "</p>");
    }
    if (json.has("example")) {
      html.raw("<p>" + Html.code(json.get("example").toString()) + "</p>");
    }
    json.path("examples")
        .properties()
        .forEach(
            example ->
                html.raw("<p>" + Html.code(example.getValue().path("value").toString()) + "</p>"));
  }

  private void schema(String name, JsonNode schema) {
    html.raw("<section id=\"" + Html.escaped(SchemaText.anchor(name)) + "\">")
        .raw("<h3>" + Html.escaped(name) + "</h3>");
    html.paragraphs(schema.path("description").asText());
    if (!schema.has("properties")) {
      html.raw("<p>" + SchemaText.type(schema) + " " + SchemaText.meaning(schema) + "</p>");
    } else {
      html.table("Field", "", "type", "");
      List<String> required = new ArrayList<>();
      schema.path("required").forEach(field -> required.add(field.asText()));
      for (Map.Entry<String, JsonNode> field : schema.get("properties").properties()) {
        html.row(
            Html.code(field.getKey()),
            required.contains(field.getKey()) ? "always" : "",
            SchemaText.type(field.getValue()),
            SchemaText.meaning(field.getValue()));
      }
      html.endTable();
    }
    html.raw("</section>");
  }

  private JsonNode resolved(JsonNode node) {
    return node.has("$ref") ? document.at(node.get("$ref").asText().substring(1)) : node;
  }

  /** As a policy names what it lets through. */
  static String digest(String text) {
    try {
      return Base64.getEncoder()
          .encodeToString(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
