package dev.holdfast.server.page;

import dev.holdfast.contract.OpenApi;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;

/** Serves the OpenAPI document, and the page on which Swagger UI shows it. */
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

  public List<Route> routes() {
    return List.of(
        Route.get(
            "/openapi.yaml",
            Guard.OPEN,
            call -> Answer.text(200, "application/yaml; charset=utf-8", document)),
        Route.get("/docs", Guard.OPEN, call -> FileAnswer.of(call, page, POLICY)));
  }
}
