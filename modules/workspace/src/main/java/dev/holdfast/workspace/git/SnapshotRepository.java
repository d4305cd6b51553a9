package dev.holdfast.workspace.git;

import dev.holdfast.worker.artifact.FileTrees;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Our own objects and indexes beside the program's clone. It looks at the program's files, never at
 * its .git: what the program commits, configures or deletes there changes nothing here and runs
 * nothing here. A program can write here, too, as it has the worker's user: so each call has a
 * {@link OwnGitDir} with nothing in it but what we wrote, and an index that was changed meanwhile
 * is made again.
 */
final class SnapshotRepository {
  // A folder that git has not looked into, and that holds no file it knows.
  private static final String UNREADABLE = "warning: could not open directory ";

  private static final String GITLINK = "160000";
  private static final String SEED = ".holdfast.seed";

  private final Path work;
  private final Path gitDir;
  private final Git git;
  private final SnapshotCalls calls;
  private final Map<Path, KnownIndex> indexes;
  private final LfsFiles lfs;

  /** An index as we left it. */
  private record KnownIndex(String hash, FileTime modified) {}

  SnapshotRepository(Path gitDir, Path work, Git git) {
    this(gitDir, work, git, new ConcurrentHashMap<>(), new LfsFiles(work));
  }

  private SnapshotRepository(
      Path gitDir, Path work, Git git, Map<Path, KnownIndex> indexes, LfsFiles lfs) {
    this.gitDir = gitDir;
    this.work = work;
    this.git = git;
    this.calls = new SnapshotCalls(gitDir.resolve("objects"), work, git);
    this.indexes = indexes;
    this.lfs = lfs;
  }

  SnapshotRepository using(Git other) {
    return new SnapshotRepository(gitDir, work, other, indexes, lfs);
  }

  boolean isWhole() {
    return Files.isDirectory(gitDir, LinkOption.NOFOLLOW_LINKS)
        && Files.isDirectory(calls.objects(), LinkOption.NOFOLLOW_LINKS);
  }

  String treeOf(String commit) throws IOException {
    return calls
        .run(new SnapshotCalls.Call(commit, fresh()), "rev-parse", "--verify", commit + "^{tree}")
        .getFirst();
  }

  /**
   * What is in the folder.
   *
   * @param warnings what is not in the tree, though it is there
   */
  record Snapshot(String tree, List<String> warnings, List<Submodules.Submodule> submodules) {}

  /** What git must not look into, and which of it are submodules. */
  private record Excluded(List<String> pathspecs, List<Submodules.Submodule> submodules) {
    Excluded() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void add(String printed) {
      pathspecs.add(FileNames.around(":(exclude,top,literal)", printed, "") + "\n");
    }

    void clear() {
      pathspecs.clear();
      submodules.clear();
    }
  }

  /** The tree of all files that are there and not ignored, or are known from the base. */
  Snapshot snapshot(String base) throws IOException {
    SnapshotCalls.Call call = new SnapshotCalls.Call(base, indexCopy(base));
    Excluded excluded = seeThrough(call);
    if (usesLfs(call)) {
      excludeLfs(call, excluded);
    }
    List<String> said = new ArrayList<>();
    calls.withFile(
        ":/\n" + String.join("", excluded.pathspecs()),
        file ->
            said.addAll(
                calls.run(
                    call, line -> {}, () -> {}, "add", "--all", "--pathspec-from-file=" + file)));
    List<String> warnings = new ArrayList<>();
    for (String line : said) {
      if (line.startsWith(UNREADABLE)) {
        warnings.add(line.substring(UNREADABLE.length()) + ": it is not in the patch");
      } else if (!line.startsWith("warning: ") && !line.startsWith("hint: ")) {
        // A file it knows, and cannot look at: it would count as unchanged.
        throw GitException.local("the changes could not be collected: " + line);
      }
    }
    return new Snapshot(keep(call), warnings, excluded.submodules());
  }

  /** The patch is the same on every machine: all options that affect it are here. */
  void diff(String base, String tree, Path patch, long most) throws IOException {
    Files.deleteIfExists(patch);
    calls.run(
        new SnapshotCalls.Call(base, fresh()),
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
    calls.run(
        new SnapshotCalls.Call(base, fresh()),
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
    SnapshotCalls.Call call = new SnapshotCalls.Call(base, indexCopy(base));
    if (Files.size(patch) > 0) {
      apply(call, patch);
    }
    return calls.run(call, "write-tree").getFirst();
  }

  /** Makes the program's files those of the tree, also when this was begun before and cut off. */
  void checkOut(String base, String tree) throws IOException {
    SnapshotCalls.Call call = new SnapshotCalls.Call(base, indexCopy(base));
    calls.run(call, "read-tree", "--reset", "-u", tree);
    keep(call.index(), tree);
  }

  // ---- repositories inside the work tree

  /**
   * Git records a repository inside a repository as a mere commit id, and its files are lost. It
   * goes inside where the index knows a file already: so each gets one, which the add removes.
   * Submodules stay what they are, ids; one whose files were put there without a .git is a folder.
   *
   * @return folders that git must not look into
   */
  private Excluded seeThrough(SnapshotCalls.Call call) throws IOException {
    Excluded excluded = new Excluded();
    List<String> patches = look(call, excluded);
    while (!patches.isEmpty()) {
      calls.withFile(String.join("", patches), patch -> apply(call, patch));
      // There may be others inside of those.
      excluded.clear();
      patches = look(call, excluded);
    }
    return excluded;
  }

  private List<String> look(SnapshotCalls.Call call, Excluded excluded) throws IOException {
    List<String> folders = Collections.synchronizedList(new ArrayList<>());
    List<String> links = Collections.synchronizedList(new ArrayList<>());
    calls.run(
        call,
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
          excluded.add(printed);
          excluded
              .submodules()
              .add(
                  new Submodules.Submodule(FileNames.read(printed), folder, link.split(" ", 3)[1]));
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

  // ---- files of git-lfs

  private boolean usesLfs(SnapshotCalls.Call call) throws IOException {
    for (String printed : calls.run(call, "ls-files", "--", ":(glob)**/.gitattributes")) {
      Path file = inWork(printed);
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && LfsFiles.areNamedIn(file)) {
        return true;
      }
    }
    return false;
  }

  private void excludeLfs(SnapshotCalls.Call call, Excluded excluded) throws IOException {
    List<String> touched = Collections.synchronizedList(new ArrayList<>());
    calls.run(
        call,
        touched::add,
        () -> {},
        "diff-files",
        "--raw",
        "--no-abbrev",
        "--ignore-submodules=all");
    List<String> modes = new ArrayList<>();
    for (String line : touched) {
      // ":100644 100644 <id in the index> <zeros> M\t<name>"
      int tab = line.indexOf('\t');
      String name = line.substring(tab + 1);
      String[] fields = line.substring(0, Math.max(0, tab)).split(" ", -1);
      if (fields.length == 5 && fields[4].equals("M") && lfs.isContentOf(fields[2], name)) {
        excluded.add(name);
        if (!fields[0].endsWith(fields[1])) {
          modes.add(mode(name, fields[0].substring(1), fields[1]));
        }
      }
    }
    if (!modes.isEmpty()) {
      calls.withFile(String.join("", modes), patch -> apply(call, patch));
    }
  }

  /** It may be executed now, or not any more; what the index has for it stays the pointer. */
  private static String mode(String name, String before, String now) {
    return "diff --git %s %s\nold mode %s\nnew mode %s\n"
        .formatted(FileNames.around("a/", name, ""), FileNames.around("b/", name, ""), before, now);
  }

  /** What is in the submodules, and in no patch. */
  List<String> warnings(Snapshot snapshot) throws IOException {
    List<String> all = new ArrayList<>(snapshot.warnings());
    Submodules submodules = new Submodules(git, SnapshotCalls.SETTINGS);
    for (Submodules.Submodule one : snapshot.submodules()) {
      submodules.warning(one).ifPresent(all::add);
    }
    return all;
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
      throw GitException.local("the work folder " + work + " is gone, or no folder");
    }
    Path index = fresh();
    // Left by a git that was killed; no other process writes here.
    Files.deleteIfExists(index.resolveSibling(index.getFileName() + ".lock"));
    Files.deleteIfExists(index);
    Path stored = indexOf(base);
    forgetAllBut(stored);
    if (!isCopied(stored, index)) {
      Files.deleteIfExists(index);
      calls.run(new SnapshotCalls.Call(base, index), "read-tree", base);
    }
    return index;
  }

  /** False when it is not as we left it: a program could hide changes from git with another. */
  private boolean isCopied(Path stored, Path index) throws IOException {
    KnownIndex left = indexes.get(stored);
    if (left == null || !Files.isRegularFile(stored, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    Files.copy(stored, index);
    if (!Sha256.of(index).equals(left.hash())) {
      return false;
    }
    // With its time: a file that is not older may have changed without looking different.
    Files.setLastModifiedTime(index, left.modified());
    return true;
  }

  private String keep(SnapshotCalls.Call call) throws IOException {
    String tree = calls.run(call, "write-tree").getFirst();
    keep(call.index(), tree);
    return tree;
  }

  private void keep(Path index, String tree) throws IOException {
    Path stored = indexOf(tree);
    indexes.put(stored, new KnownIndex(Sha256.of(index), Files.getLastModifiedTime(index)));
    Files.move(index, stored, StandardCopyOption.ATOMIC_MOVE);
  }

  private void forgetAllBut(Path known) throws IOException {
    try (DirectoryStream<Path> all = Files.newDirectoryStream(gitDir, "index-*")) {
      for (Path index : all) {
        if (!index.equals(known)) {
          Files.delete(index);
          indexes.remove(index);
        }
      }
    }
  }

  private void apply(SnapshotCalls.Call call, Path patch) throws IOException {
    calls.run(call, "apply", "--cached", "--whitespace=nowarn", "-p1", "--", patch.toString());
  }
}
