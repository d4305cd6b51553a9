package dev.holdfast.server.page;

import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;

/** Serves the operators' page. Its scripts call the HTTP API like every other client. */
public final class PageApi {
  private static final String MAP_BEGINS = "<script type=\"importmap\">";
  private static final String MAP_ENDS = "</script>";

  private final PageFiles files = new PageFiles();
  private final PageFiles.File page = PageFiles.file("index.html");
  private final String policy = policy(new String(page.bytes(), StandardCharsets.UTF_8));

  public List<Route> routes() {
    return List.of(
        Route.get("/", Guard.OPEN, call -> FileAnswer.of(call, page, policy)),
        Route.get("/page/{file}", Guard.OPEN, call -> file(call, call.value("file"))),
        Route.get(
            "/page/{library}/{file}",
            Guard.OPEN,
            call -> file(call, call.value("library") + "/" + call.value("file"))),
        Route.get(
            "/page/{library}/{folder}/{file}",
            Guard.OPEN,
            call ->
                file(
                    call,
                    call.value("library")
                        + "/"
                        + call.value("folder")
                        + "/"
                        + call.value("file"))));
  }

  /**
   * Allows scripts from this server only. Browsers read an import map only from within the page, so
   * the policy allows that one inline script by its digest. Trusted types forbid the page's own
   * scripts to turn text into markup, except in Lit, which makes elements of templates.
   */
  private static String policy(String page) {
    int begin = page.indexOf(MAP_BEGINS) + MAP_BEGINS.length();
    String map = page.substring(begin, page.indexOf(MAP_ENDS, begin));
    return "default-src 'none'; script-src 'self' 'sha256-%s'; style-src 'self'; img-src 'self';"
            .formatted(digest(map))
        + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        + " require-trusted-types-for 'script'; trusted-types lit-html";
  }

  private static String digest(String text) {
    try {
      return Base64.getEncoder()
          .encodeToString(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private Answer file(Call call, String name) {
    PageFiles.File file =
        files.find(name).orElseThrow(() -> Problem.notFound("the page has no such file"));
    return FileAnswer.of(call, file, policy);
  }
}
