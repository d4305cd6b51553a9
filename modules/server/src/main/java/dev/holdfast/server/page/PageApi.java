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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Serves the operators' page. Its scripts call the HTTP API like every other client. */
public final class PageApi {
  private static final String MAP_BEGINS = "<script type=\"importmap\">";
  private static final String MAP_ENDS = "</script>";

  private final PageFiles files = new PageFiles();

  private volatile @Nullable Served served;

  private record Served(PageDocument page, String policy) {
    static Served of(PageDocument page) {
      return new Served(page, PageApi.policy(page.text()));
    }
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/", Guard.OPEN, this::page),
        file("file"),
        file("library", "file"),
        file("library", "folder", "file"),
        file("version", "library", "folder", "file"));
  }

  /** Made for the first browser: a server starts sooner without it. */
  private Served served() {
    Served known = served;
    if (known == null) {
      known = Served.of(PageDocument.of(files));
      served = known;
    }
    return known;
  }

  private Answer page(Call call) {
    Served now = served();
    return FileAnswer.of(call, now.page().file(), now.policy(), FileAnswer.ASK);
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

  /**
   * A version may come first in any of the paths. Of another version, from before a change of the
   * server, the answer is the file of this one.
   */
  private Route file(String... parts) {
    String template =
        Stream.of(parts).map("{%s}"::formatted).collect(Collectors.joining("/", "/page/", ""));
    return Route.get(
        template, Guard.OPEN, call -> file(call, Stream.of(parts).map(call::value).toList()));
  }

  private Answer file(Call call, List<String> path) {
    boolean versioned = path.getFirst().startsWith(PageDocument.VERSION);
    Served now = served();
    boolean current = path.getFirst().equals(now.page().version());
    String name = String.join("/", versioned ? path.subList(1, path.size()) : path);
    PageFiles.File file =
        files.find(name).orElseThrow(() -> Problem.notFound("the page has no such file"));
    return FileAnswer.of(call, file, now.policy(), current ? FileAnswer.KEEP : FileAnswer.ASK);
  }
}
