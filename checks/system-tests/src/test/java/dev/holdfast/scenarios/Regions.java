package dev.holdfast.scenarios;

import dev.holdfast.testkit.Markdown;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The named parts of source files that documents show: the lines between {@code // region NAME} and
 * {@code // endregion}, or the same in the comments of another language. A region may contain
 * others, and a name may be used several times in a file: its parts are joined.
 */
final class Regions {
  private static final Pattern BEGIN =
      Pattern.compile("^\\s*(?://|#|--|<!--) region (\\S+)(?: -->)?$");
  private static final Pattern END = Pattern.compile("^\\s*(?://|#|--|<!--) endregion(?: -->)?$");
  private static final Set<String> SOURCES =
      Set.of("java", "xml", "yaml", "sql", "sh", "py", "ts", "go", "http");

  /** Folders of what is built or downloaded. */
  private static final Set<String> NOT_OURS = Set.of("target", "node_modules", "dist", "build");

  private record Part(String region, List<String> lines) {}

  private Regions() {}

  static Map<String, List<String>> in(Path file, List<String> lines) {
    Map<String, List<String>> regions = new LinkedHashMap<>();
    Deque<Part> open = new ArrayDeque<>();
    for (String line : lines) {
      Matcher begin = BEGIN.matcher(line);
      if (begin.matches()) {
        open.push(new Part(begin.group(1), new ArrayList<>()));
      } else if (END.matcher(line).matches()) {
        refuse(open.isEmpty(), file, "an endregion without a region");
        Part part = open.pop();
        regions.computeIfAbsent(part.region(), name -> new ArrayList<>()).addAll(part.lines());
      } else {
        open.forEach(part -> part.lines().add(line));
      }
    }
    refuse(!open.isEmpty(), file, "a region without an endregion");
    regions.replaceAll((name, parts) -> withoutCommonIndentation(parts));
    return regions;
  }

  private static void refuse(boolean wrong, Path file, String message) {
    if (wrong) {
      throw new AssertionError(file + ": " + message);
    }
  }

  /** And without empty lines at the end: the formatter puts one behind the end of a method. */
  static List<String> withoutCommonIndentation(List<String> lines) {
    return String.join("\n", lines).stripTrailing().stripIndent().lines().toList();
  }

  /** Every region of the checkout, as {@code path/from/root#name}. */
  static List<String> everywhere() throws IOException {
    List<String> found = new ArrayList<>();
    Files.walkFileTree(
        Markdown.ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = folder.getFileName().toString();
            boolean ours = folder.equals(Markdown.ROOT) || !name.startsWith(".");
            return ours && !NOT_OURS.contains(name)
                ? FileVisitResult.CONTINUE
                : FileVisitResult.SKIP_SUBTREE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            String name = file.toString();
            if (SOURCES.contains(name.substring(name.lastIndexOf('.') + 1))) {
              Path relative = Markdown.ROOT.relativize(file);
              in(relative, Files.readAllLines(file))
                  .keySet()
                  .forEach(region -> found.add(relative + "#" + region));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }
}
