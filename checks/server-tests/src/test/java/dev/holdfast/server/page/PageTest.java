package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files that the server serves for the page. Its behaviour is tested in a browser. */
public class PageTest extends ServerTest {
  private static final Path FOLDER =
      Path.of("../../modules/server/src/main/resources/dev/holdfast/server/page");

  /** In scripts, what they are made of. */
  private static final Pattern IMPORT =
      Pattern.compile("(?:from|import)\\s*['\"](\\.{0,2}/?[^'\",\\n]+)['\"]");

  PageTest(TestDatabase db) {
    super(db);
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request.build(), BodyHandlers.ofString());
    }
  }

  private static String header(HttpResponse<String> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "br, gzip;q=0.8, *", "GZIP ; q=1.0"})
  void files_are_compressed_for_clients_that_accept_gzip(String encodings) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + "/page/chart.js/chart.js"))
            .header("Accept-Encoding", encodings)
            .build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
      assertThat(response.headers().firstValue("Content-Encoding")).contains("gzip");
      assertThat(response.headers().firstValue("Vary")).contains("Accept-Encoding");
      String plain = get("/page/chart.js/chart.js").body();
      assertThat(response.body()).hasSizeLessThan(plain.length() / 2);
      try (var unpacked = new GZIPInputStream(new ByteArrayInputStream(response.body()))) {
        assertThat(new String(unpacked.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo(plain);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"identity", "gzip;q=0", "br", "x-gzip-like"})
  void files_are_not_compressed_for_other_clients(String encodings) throws Exception {
    HttpResponse<String> response = get("/page/app.js", "Accept-Encoding", encodings);
    assertThat(header(response, "Content-Encoding")).isEmpty();
    assertThat(response.body()).contains("customElements");
  }

  @Test
  void the_content_security_policy_allows_only_scripts_of_the_server() throws Exception {
    HttpResponse<String> page = get("/");
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(header(page, "Content-Type")).isEqualTo("text/html; charset=utf-8");
    assertThat(header(page, "Content-Security-Policy"))
        .startsWith("default-src 'none'; script-src 'self' 'sha256-")
        .contains("style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'")
        .contains("require-trusted-types-for 'script'")
        .doesNotContain("unsafe", "data:", "http:", "*");
    assertThat(header(page, "X-Content-Type-Options")).isEqualTo("nosniff");
    assertThat(header(page, "X-Frame-Options")).isEqualTo("DENY");
    assertThat(header(page, "Referrer-Policy")).isEqualTo("no-referrer");
    assertThat(page.body()).doesNotContain("style=", "onload", "javascript:");
  }

  @Test
  void the_served_files_are_exactly_those_in_the_folder() throws Exception {
    try (Stream<Path> files = Files.list(FOLDER)) {
      List<String> there =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> !Set.of("index.html", "reference.html").contains(name))
              .sorted()
              .toList();
      assertThat(PageFiles.OWN.stream().sorted()).isEqualTo(there);
    }
  }

  /** From the page on, whatever is imported is there, that of the libraries included. */
  @Test
  void every_file_the_page_loads_is_served_by_this_server_with_its_type() throws Exception {
    Set<String> seen = new TreeSet<>();
    String base = base();
    follow(base + "app.js", seen);
    assertThat(seen)
        .contains(
            base + "lit/index.js", base + "chart.js/chunks/helpers.dataset.js", base + "job.js");
    // Named in the page, each of them is loaded at once, and not when another imports it.
    assertThat(
            Pattern.compile("modulepreload\" href=\"([^\"]+)\"")
                .matcher(get("/").body())
                .results()
                .map(found -> found.group(1)))
        .containsExactlyInAnyOrderElementsOf(seen);
    assertThat(header(get("/page/style.css"), "Content-Type")).startsWith("text/css");
    assertThat(header(get("/page/icon.svg"), "Content-Type")).startsWith("image/svg+xml");
  }

  /** The folder of the page's files, which is another for other files. */
  private String base() throws Exception {
    Matcher script =
        Pattern.compile("src=\"(/page/v-[0-9a-f]{16}/)app.js\"").matcher(get("/").body());
    assertThat(script.find()).isTrue();
    return script.group(1);
  }

  @Test
  void a_browser_keeps_files_of_this_version_and_asks_about_all_others() throws Exception {
    assertThat(header(get("/"), "Cache-Control")).isEqualTo("no-cache");
    for (String file : List.of("app.js", "style.css", "lit-html/directives/repeat.js")) {
      HttpResponse<String> kept = get(base() + file);
      assertThat(header(kept, "Cache-Control")).contains("immutable", "max-age=31536000");
      HttpResponse<String> older = get("/page/v-0123456789abcdef/" + file);
      assertThat(header(older, "Cache-Control")).isEqualTo("no-cache");
      assertThat(older.body()).isEqualTo(kept.body());
    }
  }

  private void follow(String path, Set<String> seen) throws Exception {
    if (!seen.add(path)) {
      return;
    }
    HttpResponse<String> file = get(path);
    assertThat(file.statusCode()).as(path).isEqualTo(200);
    assertThat(header(file, "Content-Type")).isEqualTo("text/javascript; charset=utf-8");
    Matcher imported = IMPORT.matcher(file.body());
    while (imported.find()) {
      follow(resolved(path, imported.group(1)), seen);
    }
  }

  private String resolved(String from, String name) throws Exception {
    if (name.startsWith(".")) {
      return URI.create(from).resolve(name).toString();
    }
    String map = get("/").body();
    Matcher whole = Pattern.compile("\"" + Pattern.quote(name) + "\": \"([^\"]+)\"").matcher(map);
    if (whole.find()) {
      return whole.group(1);
    }
    int slash = name.indexOf('/');
    return resolved(from, name.substring(0, slash + 1)) + name.substring(slash + 1);
  }

  @Test
  void a_file_that_the_browser_has_cached_is_not_sent_again() throws Exception {
    HttpResponse<String> first = get("/page/app.js");
    assertThat(header(first, "Cache-Control")).isEqualTo("no-cache");
    String tag = header(first, "ETag");
    HttpResponse<String> again = get("/page/app.js", "If-None-Match", "\"other\", " + tag);
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(header(again, "ETag")).isEqualTo(tag);
    assertThat(get("/page/app.js", "If-None-Match", "\"other\"").statusCode()).isEqualTo(200);
    assertThat(get("/", "If-None-Match", header(get("/"), "ETag")).statusCode()).isEqualTo(304);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/page/index.html",
        "/page/reference.html",
        "/page/swagger-ui/swagger-ui.js",
        "/page/openapi.yaml",
        "/page/..%2fPageApi.class",
        "/page/%2e%2e/PageApi.class",
        "/page/lit/..%2f..%2f..%2fMETA-INF/MANIFEST.MF",
        "/page/lit/package.json",
        "/page/lit/LICENSE",
        "/page/lit//index.js",
        "/page/app.js%00.html",
        "/page/APP.JS",
        "/page/v-0123456789abcdef",
        "/page/v-0123456789abcdef/index.html",
        "/page/v-0123456789abcdef/v-0123456789abcdef/app.js"
      })
  void any_other_path_is_not_found(String path) {
    client.get(path, null).is(404, "not_found");
  }

  @Test
  void the_page_words_every_problem_itself() throws IOException {
    String words = Files.readString(FOLDER.resolve("problems.js"));
    for (ProblemCode problem : ProblemCode.values()) {
      assertThat(words).contains("\n  " + problem.text() + ": ");
    }
  }

  @Test
  void no_script_of_the_page_turns_text_into_markup() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".js")).toList()) {
        assertThat(Files.readString(file))
            .as(file.toString())
            .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write")
            .doesNotContain("unsafeHTML", "unsafe-html", "eval(", "new Function", " style=");
      }
    }
  }
}
