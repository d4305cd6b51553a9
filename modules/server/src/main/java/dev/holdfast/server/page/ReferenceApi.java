package dev.holdfast.server.page;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.contract.OpenApi;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Serves the OpenAPI document, in YAML and JSON, and the page on which Swagger UI shows it. */
public final class ReferenceApi {
  /**
   * Scripts, styles and requests are limited to this server. Swagger UI draws its icons by data
   * URIs. Trusted types cannot be required: it writes the markup of descriptions, after sanitizing
   * it, by innerHTML.
   */
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final byte[] document = OpenApi.yaml();
  private final PageFiles.File page = PageFiles.file("reference.html");
  private volatile byte @Nullable [] json;

  public List<Route> routes() {
    return List.of(
        Route.get(
            "/openapi.yaml",
            Guard.OPEN,
            call -> Answer.text(200, "application/yaml; charset=utf-8", document)),
        Route.get("/openapi.json", Guard.OPEN, call -> Answer.text(200, Answer.JSON, json())),
        Route.get("/docs", Guard.OPEN, call -> FileAnswer.of(call, page, POLICY, FileAnswer.ASK)));
  }

  /** Converted when it is first asked for: most servers never are. */
  private byte[] json() {
    byte[] known = json;
    if (known == null) {
      try {
        known = Wire.write(YAMLMapper.builder().build().readTree(document));
        json = known;
      } catch (IOException malformed) {
        throw new UncheckedIOException(malformed);
      }
    }
    return known;
  }
}
