package dev.holdfast.scenarios;

import dev.holdfast.testkit.Markdown;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Projects that use the libraries as users get them: installed by Maven from a checkout. */
final class UserProjects {
  private static final Path ROOT = AssembledProgram.checkout();

  /** A command that a document leaves to a test, and what it is said to print. */
  record Shown(String command, List<String> printed) {}

  private final Path folder;
  private final Maven maven;

  UserProjects(Path folder) throws IOException {
    this.folder = folder;
    this.maven = Maven.withRepository(folder.resolve("repository"));
  }

  Maven maven() {
    return maven;
  }

  Path checkout() {
    return folder.resolve("checkout");
  }

  /** As the repository is, but with build folders of its own. */
  void makeCheckout() throws IOException {
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          /** What is built at the same time comes and goes. */
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes its) {
            String name = folder.getFileName().toString();
            return name.startsWith(".") || name.equals("target") || name.equals("src")
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes its) throws IOException {
            if (file.endsWith("pom.xml")) {
              link(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    Files.createSymbolicLink(checkout().resolve(".mvn"), ROOT.resolve(".mvn"));
  }

  private void link(Path pom) throws IOException {
    Path copy = checkout().resolve(ROOT.relativize(pom));
    Files.createDirectories(copy.getParent());
    Files.copy(pom, copy);
    if (Files.exists(pom.resolveSibling("src"))) {
      Files.createSymbolicLink(copy.resolveSibling("src"), pom.resolveSibling("src"));
    }
  }

  /** An example, copied out of the checkout. */
  Path copyOf(String example) throws IOException {
    Path from = ROOT.resolve("examples").resolve(example);
    Path to = folder.resolve(example);
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(file -> !file.startsWith(from.resolve("target"))).toList()) {
        Files.copy(file, to.resolve(from.relativize(file)));
      }
    }
    return to;
  }

  /** The arguments of a {@code java} command, with the JDK of this test. */
  static List<String> java(Shown shown, String... more) {
    List<String> command = new ArrayList<>(List.of(shown.command().split(" ")));
    command.set(0, Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(more));
    return command;
  }

  static String urlOf(TestDatabase database) {
    return database.url() + "?user=" + database.user() + "&password=" + database.password();
  }

  static List<Shown> shown(String document, Class<?> test) throws IOException {
    List<Shown> all = new ArrayList<>();
    for (Markdown.Block block : Markdown.blocks(Path.of(document))) {
      if (block.comment().equals("run by: " + test.getSimpleName())) {
        for (String line : block.lines()) {
          if (line.startsWith("$ ")) {
            all.add(new Shown(line.substring(2), new ArrayList<>()));
          } else {
            all.getLast().printed().add(line);
          }
        }
      }
    }
    return all;
  }
}
