package dev.holdfast.server.page;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

/**
 * The page's HTML. It names its files by a path that has a digest of them all, so that a browser
 * that has them asks for none of them again, and it names all of its scripts, so that a browser
 * that has none loads them at once and not one import after the other.
 *
 * @param version the part of the path
 */
record PageDocument(String version, PageFiles.File file) {
  static final String VERSION = "v-";
  private static final String PATH = "/page/";
  private static final String SCRIPT = "    <script type=\"module\"";

  static PageDocument of(PageFiles files) {
    String version = VERSION + files.digest();
    String preload =
        files.modules().stream()
            .map("    <link rel=\"modulepreload\" href=\"/page/%s\">\n"::formatted)
            .collect(Collectors.joining());
    PageFiles.File plain = PageFiles.file("index.html");
    String text =
        new String(plain.bytes(), StandardCharsets.UTF_8)
            .replace(SCRIPT, preload + SCRIPT)
            .replace(PATH, PATH + version + "/");
    return new PageDocument(
        version, new PageFiles.File(plain.type(), text.getBytes(StandardCharsets.UTF_8)));
  }

  String text() {
    return new String(file.bytes(), StandardCharsets.UTF_8);
  }
}
