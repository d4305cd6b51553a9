package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.Markdown;
import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/** Readers of the documents get where links lead, and find every document. */
@OnlyWithAll
class LinksTest {
  private static final Path DOCS = Path.of("docs");
  private static final Path INDEX = DOCS.resolve("README.md");
  private static final Path PICTURES = DOCS.resolve("pictures");

  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.*?)\\s*$");
  private static final Pattern FENCE = Pattern.compile("^ *```.*");

  /** What leads out of the checkout. */
  private static final Pattern ELSEWHERE = Pattern.compile("^[a-z]+:.*");

  /**
   * @param file from the root
   * @param target as it is written
   */
  private record Link(Path file, int line, String target) {
    String place() {
      return file + ":" + line + ": " + target;
    }

    /** The file, or this one. */
    Path path() {
      String path = target.replaceFirst("#.*", "");
      return path.isEmpty() ? file : file.resolveSibling(path).normalize();
    }

    String anchor() {
      int at = target.indexOf('#');
      return at < 0 ? "" : target.substring(at + 1);
    }
  }

  private static List<Path> pages() throws IOException {
    return Stream.concat(Markdown.files().stream(), Stream.of(Path.of("CHANGELOG.md"))).toList();
  }

  /** The lines of a page that are text, and empty ones where there is a block of code. */
  private static List<String> text(Path page) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean code = false;
    for (String line : Files.readAllLines(Markdown.ROOT.resolve(page))) {
      boolean fence = FENCE.matcher(line).matches();
      lines.add(code || fence ? "" : line);
      code ^= fence;
    }
    return lines;
  }

  private static List<Link> links(Path page) throws IOException {
    List<Link> links = new ArrayList<>();
    List<String> lines = text(page);
    for (int i = 0; i < lines.size(); i++) {
      Matcher link = LINK.matcher(lines.get(i));
      while (link.find()) {
        if (!ELSEWHERE.matcher(link.group(1)).matches()) {
          links.add(new Link(page, i + 1, link.group(1)));
        }
      }
    }
    return links;
  }

  private static List<Link> all() throws IOException {
    List<Link> links = new ArrayList<>();
    for (Path page : pages()) {
      links.addAll(links(page));
    }
    assertThat(links).hasSizeGreaterThan(300);
    return links;
  }

  /** As GitHub makes them of headings: a heading that comes again gets a number. */
  static Set<String> anchors(List<String> lines) {
    Map<String, Integer> seen = new HashMap<>();
    Set<String> anchors = new HashSet<>();
    for (String line : lines) {
      Matcher heading = HEADING.matcher(line);
      if (heading.matches()) {
        String anchor =
            heading
                .group(1)
                .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
        int before = seen.merge(anchor, 1, Integer::sum) - 1;
        anchors.add(before == 0 ? anchor : anchor + "-" + before);
      }
    }
    return anchors;
  }

  @Test
  void every_link_leads_to_a_file_that_exists() throws IOException {
    assertThat(all())
        .filteredOn(link -> !Files.exists(Markdown.ROOT.resolve(link.path())))
        .extracting(Link::place)
        .isEmpty();
  }

  @Test
  void every_link_into_a_page_leads_to_a_heading_of_it() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Link link : all()) {
      boolean page = link.path().toString().endsWith(".md");
      if (!link.anchor().isEmpty() && page && !anchors(text(link.path())).contains(link.anchor())) {
        broken.add(link.place());
      }
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void an_anchor_is_the_heading_without_marks_and_numbered_if_it_comes_again() {
    assertThat(anchors(List.of("# `dev`, and more", "text", "## Logs", "### Logs", "## A [b](c)")))
        .containsExactlyInAnyOrder("dev-and-more", "logs", "logs-1", "a-b");
  }

  @Test
  void the_index_has_every_document() throws IOException {
    Set<Path> linked = new TreeSet<>();
    links(INDEX).forEach(link -> linked.add(link.path()));
    assertThat(pages())
        .filteredOn(page -> page.startsWith(DOCS) && !page.equals(INDEX))
        .filteredOn(page -> !page.startsWith(DOCS.resolve("adr")) || page.endsWith("README.md"))
        .filteredOn(page -> !linked.contains(page))
        .isEmpty();
  }

  @Test
  void the_menu_of_the_site_has_what_the_index_has() throws IOException {
    Set<Path> linked = new TreeSet<>();
    links(INDEX).forEach(link -> linked.add(link.path()));
    linked.add(INDEX);
    Set<Path> menu = new TreeSet<>();
    Pattern.compile(": (\\S+\\.md)$", Pattern.MULTILINE)
        .matcher(Files.readString(Markdown.ROOT.resolve("mkdocs.yml")))
        .results()
        .forEach(page -> menu.add(Path.of(page.group(1))));
    assertThat(menu).isEqualTo(linked);
  }

  /** GitHub and mkdocs show a picture only if it is well-formed. */
  @Test
  void every_picture_is_well_formed_and_shown() throws Exception {
    Set<Path> linked = new TreeSet<>();
    all().forEach(link -> linked.add(link.path()));
    try (Stream<Path> files = Files.list(Markdown.ROOT.resolve(PICTURES))) {
      for (Path picture : files.toList()) {
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(picture.toFile());
        assertThat(linked).contains(Markdown.ROOT.relativize(picture));
      }
    }
  }

  @Test
  void the_picture_of_states_has_all_of_them() throws IOException {
    String picture = Files.readString(Markdown.ROOT.resolve(PICTURES).resolve("states.svg"));
    List<String> drawn =
        Pattern.compile(">([A-Z]+)<")
            .matcher(picture)
            .results()
            .map(found -> found.group(1))
            .toList();
    assertThat(drawn)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(JobState.values()).map(JobState::name).toList());
  }
}
