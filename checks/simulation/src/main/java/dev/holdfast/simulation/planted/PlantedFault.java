package dev.holdfast.simulation.planted;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * A fault as a patch of sources. The classes it makes are loaded before those of the same name; no
 * source, no class and no switch of the product is changed for it.
 *
 * @param what in one line
 * @param foundBy the tool that must find it
 */
public record PlantedFault(String name, String what, Tool foundBy, List<Change> changes) {
  /** What looks for faults. */
  public enum Tool {
    /** Workers on virtual time. */
    SIMULATION,
    /** The same calls on the model and on PostgreSQL. */
    COMPARISON,
    /** Two calls at once on PostgreSQL. */
    RACES,
    /** Clients of a server with tokens of other attempts, and readers of its events. */
    SERVER
  }

  private static final String PATCH = ".patch";
  private static final Pattern PART =
      Pattern.compile(
          "^\\+\\+\\+ (?<file>[^\\n]*)$|^<<<<\\n(?<before>.*?)\\n?^====\\n(?<after>.*?)\\n?^>>>>$",
          Pattern.MULTILINE | Pattern.DOTALL);

  /** Text that is replaced in a source. */
  record Change(String file, String before, String after) {}

  /** The patches beside this class. */
  public static List<PlantedFault> all() {
    try (Stream<Path> files = Files.list(Path.of(PlantedFault.class.getResource(".").toURI()))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(PATCH))
          .map(name -> named(name.substring(0, name.length() - PATCH.length())))
          .sorted(Comparator.comparing(PlantedFault::name))
          .toList();
    } catch (IOException | URISyntaxException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }

  public static PlantedFault named(String name) {
    try (InputStream in = PlantedFault.class.getResourceAsStream(name + PATCH)) {
      return parse(
          name,
          new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }

  /** {@code what}, {@code tool}, then for each change its file, and both texts between marks. */
  private static PlantedFault parse(String name, String text) {
    String[] head = text.split("\n", 3);
    List<Change> changes = new ArrayList<>();
    String file = "";
    Matcher part = PART.matcher(head[2]);
    while (part.find()) {
      if (part.group("file") != null) {
        file = part.group("file").strip();
      } else {
        changes.add(new Change(file, part.group("before"), part.group("after")));
      }
    }
    return new PlantedFault(name, head[0], Tool.valueOf(head[1].strip()), changes);
  }

  /**
   * The changed sources, by their paths.
   *
   * @param checkout where the sources are
   */
  public Map<String, String> sources(Path checkout) throws IOException {
    Map<String, String> sources = new LinkedHashMap<>();
    for (Change change : changes) {
      String source = sources.get(change.file());
      if (source == null) {
        source = Files.readString(checkout.resolve(change.file()));
      }
      int at = source.indexOf(change.before());
      if (at < 0 || source.indexOf(change.before(), at + 1) >= 0) {
        throw new IllegalStateException(
            "the planted fault '%s' is out of date: its text is not there once in %s"
                .formatted(name, change.file()));
      }
      sources.put(change.file(), source.replace(change.before(), change.after()));
    }
    return sources;
  }

  /**
   * Compiles the changed sources.
   *
   * @param checkout where the sources are
   * @param folder where the classes go
   */
  public Path compile(Path checkout, Path folder) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-nowarn",
                "-proc:none",
                "-parameters",
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("java.class.path")));
    for (Map.Entry<String, String> source : sources(checkout).entrySet()) {
      Path copy = folder.resolve("src").resolve(source.getKey());
      Files.createDirectories(copy.getParent());
      arguments.add(Files.writeString(copy, source.getValue()).toString());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter output = new StringWriter();
    List<String> files = arguments.stream().filter(each -> each.endsWith(".java")).toList();
    List<String> options = arguments.stream().filter(each -> !each.endsWith(".java")).toList();
    var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    boolean compiled =
        compiler
            .getTask(
                output, manager, null, options, null, manager.getJavaFileObjectsFromStrings(files))
            .call();
    if (!compiled) {
      throw new IllegalStateException(name + " does not compile:\n" + output);
    }
    return folder;
  }
}
