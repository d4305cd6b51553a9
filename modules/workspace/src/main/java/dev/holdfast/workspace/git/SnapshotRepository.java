package dev.holdfast.workspace.git;

import dev.holdfast.worker.artifact.FileTrees;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Our own git folder beside the program's. It looks at the program's files, never at its .git: what
 * the program commits, configures or deletes there changes nothing here and runs nothing here.
 */
final class SnapshotRepository {
  // The last word on every file: its bytes as they are, whatever a .gitattributes says.
  private static final String ATTRIBUTES =
      "* -text -ident -filter !working-tree-encoding !diff !whitespace\n";

  private static final Map<String, String> SETTINGS =
      Map.of(
          // Names that only Windows and macOS would stumble over are names.
          "core.protectNTFS", "false",
          "core.protectHFS", "false",
          "core.ignoreCase", "false",
          "core.precomposeUnicode", "false",
          "advice.addEmbeddedRepo", "false");

  private static final String GITLINK = "160000";
  private static final String SEED = ".holdfast.seed";

  private final Path work;
  private final Path gitDir;
  private final Git git;

  SnapshotRepository(Path gitDir, Path work, Git git) {
    this.gitDir = gitDir;
    this.work = work;
    this.git = git;
  }

  Path gitDir() {
    return gitDir;
  }

  void prepare() throws IOException {
    Path info = Files.createDirectories(gitDir.resolve("info"));
    Files.writeString(info.resolve("attributes"), ATTRIBUTES);
  }

  String treeOf(String commit) throws IOException {
    return git.run(place(fresh()), "rev-parse", "--verify", commit + "^{tree}").getFirst();
  }

  /** The tree of all files that are there and not ignored, or are known from the base. */
  String snapshot(String base) throws IOException {
    Path index = indexCopy(base);
    List<String> excluded = seeThrough(index);
    Path pathspecs = gitDir.resolve("pathspecs");
    Files.writeString(pathspecs, ":/\n" + String.join("", excluded));
    git.run(place(index), "add", "--all", "--pathspec-from-file=" + pathspecs);
    return keep(index);
  }

  /** The patch is the same on every machine: all options that affect it are here. */
  void diff(String base, String tree, Path patch, long most) throws IOException {
    Files.deleteIfExists(patch);
    git.run(
        place(fresh()),
        line -> {},
        () -> {
          if (Files.exists(patch) && Files.size(patch) > most) {
            throw new PatchTooLargeException(most);
          }
        },
        "diff-tree",
        "-r",
        "--patch",
        "--binary",
        "--full-index",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-relative",
        "--submodule=short",
        "--ignore-submodules=none",
        "--diff-algorithm=myers",
        "--no-indent-heuristic",
        "--unified=3",
        "--inter-hunk-context=0",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--output=" + patch,
        base,
        tree);
  }

  List<String> names(String base, String tree) throws IOException {
    List<String> names = Collections.synchronizedList(new ArrayList<>());
    git.run(
        place(fresh()),
        line -> names.add(FileNames.read(line)),
        () -> {},
        "diff-tree",
        "-r",
        "--name-only",
        "--no-renames",
        "--ignore-submodules=none",
        base,
        tree);
    return names;
  }

  /** The tree that the patch makes of the base. No file of the program is touched. */
  String applied(String base, Path patch) throws IOException {
    Path index = indexCopy(base);
    if (Files.size(patch) > 0) {
      apply(index, patch);
    }
    return git.run(place(index), "write-tree").getFirst();
  }

  /** Makes the program's files those of the tree, also when this was begun before and cut off. */
  void checkOut(String base, String tree) throws IOException {
    Path index = indexCopy(base);
    git.run(place(index), "read-tree", "--reset", "-u", tree);
    Files.move(index, indexOf(tree), StandardCopyOption.ATOMIC_MOVE);
  }

  // ---- repositories inside the work tree

  /**
   * Git records a repository inside a repository as a mere commit id, and its files are lost. It
   * goes inside where the index knows a file already: so each gets one, which the add removes.
   * Submodules stay what they are, ids; one whose files were put there without a .git is a folder.
   *
   * @return pathspecs of folders that git must not look into
   */
  private List<String> seeThrough(Path index) throws IOException {
    List<String> excluded = new ArrayList<>();
    List<String> patches = look(index, excluded);
    while (!patches.isEmpty()) {
      Path patch = gitDir.resolve("seeds.patch");
      Files.writeString(patch, String.join("", patches));
      apply(index, patch);
      // There may be others inside of those.
      excluded.clear();
      patches = look(index, excluded);
    }
    return excluded;
  }

  private List<String> look(Path index, List<String> excluded) throws IOException {
    List<String> folders = Collections.synchronizedList(new ArrayList<>());
    List<String> links = Collections.synchronizedList(new ArrayList<>());
    git.run(
        place(index),
        line -> {
          // A tab in a name is quoted.
          int tab = line.indexOf('\t');
          if (tab < 0 && FileNames.isFolder(line)) {
            folders.add(line);
          } else if (tab >= 0 && line.startsWith(GITLINK)) {
            links.add(line);
          }
        },
        () -> {},
        "ls-files",
        "--stage",
        "--others",
        "--exclude-standard");
    List<String> patches = new ArrayList<>();
    folders.forEach(folder -> patches.add(seed(folder)));
    for (String link : links) {
      String printed = link.substring(link.indexOf('\t') + 1);
      Path folder = inWork(printed);
      if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) && !FileTrees.isEmpty(folder)) {
        if (Files.exists(folder.resolve(".git"), LinkOption.NOFOLLOW_LINKS)) {
          excluded.add(FileNames.around(":(exclude,top,literal)", printed, "") + "\n");
        } else {
          patches.add(unlink(printed, link.split(" ", 3)[1]));
        }
      }
    }
    return patches;
  }

  private Path inWork(String printed) throws IOException {
    try {
      return work.resolve(FileNames.read(printed));
    } catch (InvalidPathException unusual) {
      throw GitException.repository("a submodule's name is none of a file here: " + printed);
    }
  }

  private static String seed(String folder) {
    return "diff --git %s %s\nnew file mode 100644\n"
        .formatted(FileNames.around("a/", folder, SEED), FileNames.around("b/", folder, SEED));
  }

  private static String unlink(String printed, String commit) {
    return """
        diff --git %1$s %2$s
        deleted file mode 160000
        --- %1$s
        +++ /dev/null
        @@ -1 +0,0 @@
        -Subproject commit %3$s
        """
        .formatted(
            FileNames.around("a/", printed, ""), FileNames.around("b/", printed, ""), commit);
  }

  // ---- indexes

  // An index remembers what each file looked like, so that only touched ones are read. There is one
  // for each tree, made again when missing: no crash leaves a tree with the index of another.
  private Path indexOf(String tree) {
    return gitDir.resolve("index-" + tree);
  }

  private Path fresh() {
    return gitDir.resolve("index.new");
  }

  private Path indexCopy(String base) throws IOException {
    if (!Files.isDirectory(work, LinkOption.NOFOLLOW_LINKS)) {
      throw GitException.repository("the work folder " + work + " is gone, or no folder");
    }
    Path index = fresh();
    // Left by a git that was killed; no other process writes here.
    Files.deleteIfExists(index.resolveSibling(index.getFileName() + ".lock"));
    Files.deleteIfExists(index);
    Path known = indexOf(base);
    forgetAllBut(known);
    if (!Files.exists(known)) {
      git.run(place(index), "read-tree", base);
      Files.move(index, known, StandardCopyOption.ATOMIC_MOVE);
    }
    // With its time: a file that is not older may have changed without looking different.
    Files.copy(known, index, StandardCopyOption.COPY_ATTRIBUTES);
    return index;
  }

  private String keep(Path index) throws IOException {
    String tree = git.run(place(index), "write-tree").getFirst();
    Files.move(index, indexOf(tree), StandardCopyOption.ATOMIC_MOVE);
    return tree;
  }

  private void forgetAllBut(Path known) throws IOException {
    try (DirectoryStream<Path> indexes = Files.newDirectoryStream(gitDir, "index-*")) {
      for (Path index : indexes) {
        if (!index.equals(known)) {
          Files.delete(index);
        }
      }
    }
  }

  private void apply(Path index, Path patch) throws IOException {
    git.run(
        place(index), "apply", "--cached", "--whitespace=nowarn", "-p1", "--", patch.toString());
  }

  private Git.Place place(Path index) {
    Map<String, String> settings = new HashMap<>(SETTINGS);
    Path exclude = work.resolve(".git/info/exclude");
    if (Files.isRegularFile(exclude, LinkOption.NOFOLLOW_LINKS)) {
      settings.put("core.excludesFile", exclude.toString());
    }
    return new Git.Place(
        work,
        Map.of(
            "GIT_DIR", gitDir.toString(),
            "GIT_WORK_TREE", work.toString(),
            "GIT_INDEX_FILE", index.toString()),
        settings);
  }
}
