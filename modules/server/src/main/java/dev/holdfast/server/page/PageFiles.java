package dev.holdfast.server.page;

import dev.holdfast.contract.token.Secrets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The files that browsers may load: those of the page and of the API reference, and those of their
 * libraries. A name that is not in the lists below is not found.
 */
final class PageFiles {
  /** Lie beside this class, in the folder of its package. */
  static final List<String> OWN =
      List.of(
          "app.js",
          "bulk.js",
          "charts.js",
          "dialogs.js",
          "diff.js",
          "enqueue.js",
          "failures.js",
          "format.js",
          "graph.js",
          "history.js",
          "icon.svg",
          "info.js",
          "job-actions.js",
          "job-parts.js",
          "job.js",
          "jobs.js",
          "json.js",
          "keys.js",
          "live.js",
          "notices.js",
          "overview.js",
          "parts.js",
          "problems.js",
          "queue.js",
          "queues.js",
          "reference.css",
          "reference.js",
          "runs.js",
          "schedules.js",
          "search.js",
          "server.js",
          "states.js",
          "stored.js",
          "style.css",
          "timeline.js",
          "waits.js",
          "why.js",
          "worker-commands.js",
          "worker.js",
          "workers.js");

  private static final Properties VERSIONS = versions();

  private static final List<Library> LIBRARIES =
      List.of(
          new Library("lit", "", List.of("index.js")),
          new Library(
              "lit-html",
              "",
              List.of(
                  "lit-html.js",
                  "is-server.js",
                  "directive.js",
                  "directive-helpers.js",
                  "directives/repeat.js",
                  "directives/live.js")),
          new Library("lit-element", "", List.of("lit-element.js")),
          new Library("lit__reactive-element", "", List.of("reactive-element.js", "css-tag.js")),
          new Library("chart.js", "dist/", List.of("chart.js", "chunks/helpers.dataset.js")),
          new Library("kurkle__color", "dist/", List.of("color.esm.js")),
          new Library("swagger-ui", "", List.of("swagger-ui-bundle.js", "swagger-ui.css")));

  /**
   * A WebJar.
   *
   * @param folder of the files within the WebJar
   */
  private record Library(String name, String folder, List<String> files) {
    String place(String file) {
      return "/META-INF/resources/webjars/%s/%s/%s%s".formatted(name, version(), folder, file);
    }

    private String version() {
      String version = VERSIONS.getProperty(name);
      if (version == null) {
        throw new IllegalStateException("libraries.properties has no version of " + name);
      }
      return version;
    }
  }

  /** The content of a file, plain and compressed, with its type and its entity tag. */
  static final class File {
    private final String type;
    private final byte[] bytes;
    private volatile byte @Nullable [] compressed;
    private final String tag;

    File(String type, byte[] bytes) {
      this.type = type;
      this.bytes = bytes;
      this.tag = "\"" + Secrets.digest(bytes).substring(0, 32) + "\"";
    }

    String type() {
      return type;
    }

    byte[] bytes() {
      return bytes;
    }

    /** The content compressed by gzip, when it is first asked for. */
    byte[] compressed() {
      byte[] known = compressed;
      if (known == null) {
        known = compressed(bytes);
        compressed = known;
      }
      return known;
    }

    private static byte[] compressed(byte[] bytes) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
        gzip.write(bytes);
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
      return out.toByteArray();
    }

    /** A digest of the content. */
    String tag() {
      return tag;
    }
  }

  /** Resources by the name they are requested by: {@code app.js}, {@code lit/index.js}. */
  private final Map<String, Supplier<String>> places = new HashMap<>();

  private final Map<String, File> read = new ConcurrentHashMap<>();

  PageFiles() {
    OWN.forEach(name -> places.put(name, () -> name));
    for (Library library : LIBRARIES) {
      for (String file : library.files()) {
        places.put(library.name() + "/" + file, () -> library.place(file));
      }
    }
  }

  Optional<File> find(String name) {
    Supplier<String> place = places.get(name);
    return place == null
        ? Optional.empty()
        : Optional.of(read.computeIfAbsent(name, each -> file(place.get())));
  }

  /** The scripts of the page, by name. */
  List<String> modules() {
    return places.keySet().stream()
        .filter(name -> name.endsWith(".js") && !isOfReference(name))
        .sorted()
        .toList();
  }

  /** Of all files of the page. */
  String digest() {
    String tags =
        places.keySet().stream()
            .filter(name -> !isOfReference(name))
            .sorted()
            .map(name -> find(name).orElseThrow().tag())
            .collect(Collectors.joining());
    return Secrets.digest(tags.getBytes(StandardCharsets.UTF_8)).substring(0, 16);
  }

  /** Whether it is of the API reference, which is another page. */
  private static boolean isOfReference(String name) {
    return name.startsWith("reference.") || name.startsWith("swagger-ui/");
  }

  static File file(String place) {
    try (InputStream in = opened(place)) {
      return new File(type(place), in.readAllBytes());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Properties versions() {
    Properties versions = new Properties();
    try (InputStream in = opened("libraries.properties")) {
      versions.load(in);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return versions;
  }

  private static InputStream opened(String place) {
    InputStream in = PageFiles.class.getResourceAsStream(place);
    if (in == null) {
      throw new IllegalStateException("resource " + place + " is missing from the class path");
    }
    return in;
  }

  private static String type(String place) {
    return switch (place.substring(place.lastIndexOf('.') + 1)) {
      case "js" -> "text/javascript; charset=utf-8";
      case "css" -> "text/css; charset=utf-8";
      case "svg" -> "image/svg+xml";
      case "html" -> "text/html; charset=utf-8";
      default -> throw new IllegalArgumentException(place);
    };
  }
}
