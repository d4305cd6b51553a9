package dev.holdfast.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.contract.OpenApi;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What the API is, for programs and for people. */
public final class ReferenceApi {
  private final byte[] document = OpenApi.yaml();

  /** Made for the first who asks: nothing else at a server's start takes as long. */
  private static final class Page {
    static final byte[] TEXT =
        ReferencePage.of(read(OpenApi.yaml())).getBytes(StandardCharsets.UTF_8);
  }

  public static JsonNode read(byte[] yaml) {
    try {
      return YAMLMapper.builder().build().readTree(yaml);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  public List<Route> routes() {
    return List.of(
        Route.get(
            "/openapi.yaml",
            Guard.OPEN,
            call -> Answer.text(200, "application/yaml; charset=utf-8", document)),
        Route.get("/docs", Guard.OPEN, call -> page()));
  }

  /** The page has no script and loads nothing: the policy says so to the browser as well. */
  private Answer page() {
    return Answer.text(200, "text/html; charset=utf-8", Page.TEXT)
        .header("Content-Security-Policy", ReferencePage.POLICY)
        .header("Referrer-Policy", "no-referrer");
  }
}
