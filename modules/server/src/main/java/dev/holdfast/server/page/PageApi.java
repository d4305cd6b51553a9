package dev.holdfast.server.page;

import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The page for people. It is a client of the API like any other, and has no other way in. */
public final class PageApi {
  private static final String MAP_BEGINS = "<script type=\"importmap\">";
  private static final String MAP_ENDS = "</script>";

  private final PageFiles files = new PageFiles();
  private final PageFiles.File page = PageFiles.file("index.html");
  private final String policy = policy(new String(page.bytes(), StandardCharsets.UTF_8));

  public List<Route> routes() {
    return List.of(
        Route.get("/", Guard.OPEN, call -> answer(call, page)),
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
   * Scripts come from here alone. The one thing that must stand in the page itself is the map of
   * where the libraries are, for browsers read no such map from a file; it is let through by its
   * digest. Trusted types keep even our own scripts from turning text into markup, but for the one
   * place in Lit that makes elements of templates.
   */
  private static String policy(String page) {
    int begin = page.indexOf(MAP_BEGINS) + MAP_BEGINS.length();
    String map = page.substring(begin, page.indexOf(MAP_ENDS, begin));
    return "default-src 'none'; script-src 'self' 'sha256-%s'; style-src 'self'; img-src 'self';"
            .formatted(ReferencePage.digest(map))
        + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        + " require-trusted-types-for 'script'; trusted-types lit-html";
  }

  private Answer file(Call call, String name) {
    return answer(
        call, files.find(name).orElseThrow(() -> Problem.notFound("the page has no such file")));
  }

  private Answer answer(Call call, PageFiles.File file) {
    boolean known =
        call.header("If-None-Match")
            .map(tags -> Arrays.asList(tags.split("\\s*,\\s*", -1)).contains(file.tag()))
            .orElse(false);
    boolean compressed = call.header("Accept-Encoding").map(PageApi::takesGzip).orElse(false);
    Answer answer = Answer.text(known ? 304 : 200, file.type(), body(file, known, compressed));
    if (compressed && !known) {
      answer.header("Content-Encoding", "gzip");
    }
    return answer
        .header("Vary", "Accept-Encoding")
        .header("ETag", file.tag())
        .header("Cache-Control", "no-cache")
        .header("Content-Security-Policy", policy)
        .header("Referrer-Policy", "no-referrer")
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .header("Cross-Origin-Resource-Policy", "same-origin")
        .header("X-Frame-Options", "DENY");
  }

  private static byte[] body(PageFiles.File file, boolean known, boolean compressed) {
    if (known) {
      return new byte[0];
    }
    return compressed ? file.compressed() : file.bytes();
  }

  /** Whether it is among the encodings, and not with the weight 0, which refuses it. */
  private static boolean takesGzip(String encodings) {
    return Arrays.stream(encodings.toLowerCase(Locale.ROOT).split(",", -1))
        .map(each -> each.replaceAll("\\s", ""))
        .anyMatch(each -> each.matches("gzip(;q=(1(\\.0*)?|0\\.0*[1-9]\\d*))?"));
  }
}
