package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The page, and whatever it refers to, as a browser would fetch it. */
final class Assets {
  private static final Pattern TAG =
      Pattern.compile("<(?:script|link|img)\\b[^>]*?\\b(?:src|href)=\"([^\"]+)\"");
  private static final Pattern IMPORT_MAP =
      Pattern.compile("<script type=\"importmap\">(.*?)</script>", Pattern.DOTALL);
  private static final Pattern ENTRY = Pattern.compile("\"([^\"]+)\"\\s*:\\s*\"([^\"]+)\"");
  // Also minified: import{a}from"b", export*from"b", import"b".
  private static final Pattern IMPORT =
      Pattern.compile(
          "(?:^|[;}\\s])(?:import|export)\\s*(?:[\\w$*{},\\s]*?\\bfrom)?\\s*(['\"])([^'\"\\s]+)\\1");
  private static final Pattern CSS_URL = Pattern.compile("url\\(\\s*['\"]?([^)'\"]+)['\"]?\\s*\\)");
  private static final Map<String, String> TYPES =
      Map.of(
          "js", "text/javascript",
          "css", "text/css",
          "svg", "image/svg+xml",
          "png", "image/png",
          "html", "text/html");

  private final HttpClient http = HttpClient.newHttpClient();
  private final URI page;
  private final Map<String, String> importMap = new HashMap<>();
  private final Deque<URI> toFetch = new ArrayDeque<>();
  private final Set<URI> seen = new LinkedHashSet<>();
  private final List<String> wrong = new ArrayList<>();

  private Assets(URI page) {
    this.page = page;
  }

  /** What was fetched, and what was wrong with it. */
  record Fetched(Set<URI> all, List<String> wrong) {}

  static Fetched of(URI page) throws IOException, InterruptedException {
    Assets assets = new Assets(page);
    assets.want(page);
    while (!assets.toFetch.isEmpty()) {
      assets.fetch(assets.toFetch.removeFirst());
    }
    return new Fetched(assets.seen, assets.wrong);
  }

  private void want(URI address) {
    if (seen.add(address)) {
      toFetch.add(address);
    }
  }

  private void fetch(URI address) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(address).timeout(SOON).build(),
            HttpResponse.BodyHandlers.ofString());
    String type = answer.headers().firstValue("Content-Type").orElse("none").split(";")[0].strip();
    String ending = address.getPath().replaceFirst(".*[./]", "");
    String expected = TYPES.getOrDefault(ending, "text/html");
    String body = answer.body();
    if (answer.statusCode() != 200 || !type.equals(expected) || body.isBlank()) {
      wrong.add(
          "%s: %d, %s, %d characters".formatted(address, answer.statusCode(), type, body.length()));
      return;
    }
    switch (type) {
      case "text/html" -> html(address, body);
      case "text/javascript" -> script(address, body);
      case "text/css" -> all(CSS_URL, 1, body).forEach(url -> want(address.resolve(url)));
      default -> {}
    }
  }

  private void html(URI address, String text) {
    Matcher map = IMPORT_MAP.matcher(text);
    if (map.find()) {
      Matcher entry = ENTRY.matcher(map.group(1));
      while (entry.find()) {
        importMap.put(entry.group(1), entry.group(2));
        // One that ends in a slash is a folder, and no file.
        if (!entry.group(2).endsWith("/")) {
          want(address.resolve(entry.group(2)));
        }
      }
    }
    for (String url : all(TAG, 1, text)) {
      if (!url.startsWith("data:")) {
        want(address.resolve(url));
      }
    }
  }

  private void script(URI address, String text) {
    for (String name : all(IMPORT, 2, text)) {
      if (name.startsWith(".") || name.startsWith("/")) {
        want(address.resolve(name));
      } else {
        mapped(name, address);
      }
    }
  }

  private void mapped(String name, URI address) {
    Map<String, String> sorted = new LinkedHashMap<>();
    importMap.entrySet().stream()
        .sorted((a, b) -> b.getKey().length() - a.getKey().length())
        .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
    for (Map.Entry<String, String> entry : sorted.entrySet()) {
      if (name.equals(entry.getKey())
          || entry.getKey().endsWith("/") && name.startsWith(entry.getKey())) {
        want(page.resolve(entry.getValue() + name.substring(entry.getKey().length())));
        return;
      }
    }
    wrong.add(address + " imports '" + name + "', which the import map does not have");
  }

  private static List<String> all(Pattern pattern, int group, String text) {
    return pattern.matcher(text).results().map(found -> found.group(group)).toList();
  }
}
