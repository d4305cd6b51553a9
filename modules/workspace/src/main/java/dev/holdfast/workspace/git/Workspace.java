package dev.holdfast.workspace.git;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.artifact.FileTrees;
import dev.holdfast.worker.steps.FailureClass;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * A folder in which a program changes files, step by step. {@code work} is all it needs to see: an
 * ordinary clone, with which it may do as it likes. What a step changed is a patch; the same
 * patches on the same commit make the same workspace again.
 *
 * <p>One process at a time. Long calls end soon after an interrupt, or when the git's hook says so.
 */
public final class Workspace {
  public static final int PATCH_BYTES = 20 << 20;

  private static final int NAMES_SHOWN = 10;

  /** What is known for sure, in one small file. */
  private record State(String baseline, String tree, int steps) {
    private static final String FILE = "workspace.properties";

    void write(Path folder) throws IOException {
      Synced.write(
          folder.resolve(FILE),
          "baseline=%s\ntree=%s\nsteps=%d\n".formatted(baseline, tree, steps));
    }

    static boolean isIn(Path folder) {
      return Files.exists(folder.resolve(FILE));
    }

    static State read(Path folder) throws IOException {
      Properties all = new Properties();
      try (Reader reader = Files.newBufferedReader(folder.resolve(FILE))) {
        all.load(reader);
      } catch (NoSuchFileException never) {
        throw new IOException("there is no finished workspace in " + folder, never);
      }
      return new State(
          all.getProperty("baseline", ""),
          all.getProperty("tree", ""),
          Integer.parseInt(all.getProperty("steps", "")));
    }
  }

  private final Path folder;
  private final Path work;
  private final Git git;
  private final SnapshotRepository shadow;
  private State state;

  private Workspace(Path folder, Git git, State state, SnapshotRepository shadow) {
    this.folder = folder;
    this.work = work(folder);
    this.git = git;
    this.shadow = shadow;
    this.state = state;
  }

  private Workspace(Path folder, Git git, State state) {
    this(folder, git, state, new SnapshotRepository(shadow(folder), work(folder), git));
  }

  private static Path work(Path folder) {
    return folder.resolve("work");
  }

  private static Path shadow(Path folder) {
    return folder.resolve("shadow.git");
  }

  /**
   * A new one; what an interrupted attempt left in the folder is thrown away first.
   *
   * @param commit the {@link #baseline()} of the first time, when this is a rebuild: the ref may
   *     have moved since
   * @param cache holds a mirror of each repository, for all workspaces of this machine
   */
  public static Workspace create(
      Path folder, Repository repository, @Nullable String commit, Path cache, Git git)
      throws IOException {
    if (commit != null && !Repository.isCommitId(commit)) {
      throw new RefusedException(Refusal.BAD_NAME, "a recorded commit must be a whole id");
    }
    Path place = folder.toAbsolutePath().normalize();
    if (State.isIn(place)) {
      throw new IllegalStateException(
          "there is a workspace in " + place + " already: open it, or delete it");
    }
    Mirror mirror = new Mirror(repository, cache, git);
    try {
      return build(place, repository, mirror, commit, git);
    } catch (GitException e) {
      if (e.failureClass() != FailureClass.TRANSIENT_RUNTIME || !mirror.wasBroken()) {
        throw e;
      }
    }
    return build(place, repository, mirror, commit, git);
  }

  private static Workspace build(
      Path folder, Repository repository, Mirror mirror, @Nullable String recorded, Git git)
      throws IOException {
    FileTrees.delete(folder);
    Files.createDirectories(folder);
    Workspace made = new Workspace(folder, git, new State("", "", 0));
    String commit = mirror.cloneTo(made.work, shadow(folder), recorded);
    made.checkOut(commit, repository);
    // Not the commit's own tree: line endings and the like may have been converted on the way.
    made.state = new State(commit, made.shadow.snapshot(made.shadow.treeOf(commit)).tree(), 0);
    made.state.write(folder);
    return made;
  }

  /** The last call of git with the program's own folder, before the program has seen it. */
  private void checkOut(String commit, Repository repository) throws IOException {
    Path gitDir = work.resolve(".git");
    Git.Place place =
        new Git.Place(
            work, Map.of("GIT_DIR", gitDir.toString(), "GIT_WORK_TREE", work.toString()), Map.of());
    git.run(place, "config", "remote.origin.url", repository.address());
    git.run(place, "checkout", "--quiet", "--force", "--detach", commit);
    // What programs expect to find in a clone.
    Files.createDirectories(gitDir.resolve("hooks"));
    Files.writeString(Files.createDirectories(gitDir.resolve("info")).resolve("exclude"), "");
  }

  /** The one that is in the folder, with the steps it had when it was last used. */
  public static Workspace open(Path folder, Git git) throws IOException {
    Path place = folder.toAbsolutePath().normalize();
    return new Workspace(place, git, State.read(place));
  }

  /** The same one, with another git. What it knows stays known, and is not read from its files. */
  public synchronized Workspace using(Git other) {
    return new Workspace(folder, other, state, shadow.using(other));
  }

  /** Where the program works. */
  public Path work() {
    return work;
  }

  /** The commit it all began with. */
  public synchronized String baseline() {
    return state.baseline();
  }

  /** Locks of a git that was killed with its program must not block the next one. */
  public void clearAway() throws IOException {
    StaleGitLocks.clear(work.resolve(".git"), git::checkCancelled);
  }

  /** Whether all of it is there; a program may have deleted its own folder, and ours beside it. */
  public boolean isWhole() {
    return Files.isDirectory(work, LinkOption.NOFOLLOW_LINKS)
        && shadow.isWhole()
        && State.isIn(folder);
  }

  /** Of the files as they are now; those that git ignores do not count. */
  public synchronized String tree() throws IOException {
    return shadow.snapshot(state.tree()).tree();
  }

  /** What differs between two trees, for people. */
  public synchronized String difference(String before, String after) throws IOException {
    return shown(before, after);
  }

  /** How many steps were accepted or replayed since. */
  public synchronized int steps() {
    return state.steps();
  }

  /** Which files are not as they were in this tree. */
  public synchronized List<String> changedSince(String tree) throws IOException {
    return shadow.names(tree, tree());
  }

  public Changes changes() throws IOException {
    return changes(PATCH_BYTES);
  }

  /** Since the last step; throws {@link PatchTooLargeException} when the patch is larger. */
  public synchronized Changes changes(long mostPatchBytes) throws IOException {
    Path patch = folder.resolve("changes.patch");
    SnapshotRepository.Snapshot now = shadow.snapshot(state.tree());
    shadow.diff(state.tree(), now.tree(), patch, mostPatchBytes);
    return new Changes(
        state.tree(),
        now.tree(),
        patch,
        Sha256.of(patch),
        shadow.names(state.tree(), now.tree()),
        shadow.warnings(now));
  }

  /** The step is done; the next one begins here. */
  public synchronized void accept(Changes changes) throws IOException {
    if (!changes.base().equals(state.tree())) {
      throw new IllegalArgumentException("these changes are not of this step");
    }
    become(changes.tree());
  }

  /**
   * Does again what a step once did. First it is made sure that the patch leads exactly to the
   * recorded tree, then the program's files are changed, then they are looked at. Whatever else was
   * changed in them since the last step is overwritten or makes this fail.
   */
  public synchronized void replay(Path patch, String diffHash, String tree) throws IOException {
    String name = patch.getFileName().toString();
    String hash = hashed(patch, name);
    if (!hash.equals(diffHash)) {
      throw new ReplayException(
          name, "it is damaged, its hash is %s and was %s".formatted(hash, diffHash), null);
    }
    String applied = applied(patch, name);
    if (!applied.equals(tree)) {
      throw new ReplayException(
          name, "it leads to tree %s and led to %s".formatted(applied, tree), null);
    }
    shadow.checkOut(state.tree(), tree);
    String seen = shadow.snapshot(tree).tree();
    if (!seen.equals(tree)) {
      throw new ReplayException(name, "other files differ: " + shown(tree, seen), null);
    }
    become(tree);
  }

  private static String hashed(Path patch, String name) throws IOException {
    try {
      return Sha256.of(patch);
    } catch (NoSuchFileException missing) {
      throw new ReplayException(name, "it is missing", missing);
    }
  }

  private String applied(Path patch, String name) throws IOException {
    try {
      return shadow.applied(state.tree(), patch.toAbsolutePath());
    } catch (GitException refused) {
      // Any other code is trouble of the machine, and not the patch's.
      if (refused.exit() != 1) {
        throw refused;
      }
      throw new ReplayException(name, String.valueOf(refused.getMessage()), refused);
    }
  }

  private String shown(String tree, String seen) throws IOException {
    List<String> names = shadow.names(tree, seen);
    String first = String.join(", ", names.subList(0, Math.min(NAMES_SHOWN, names.size())));
    return names.size() > NAMES_SHOWN
        ? first + " and " + (names.size() - NAMES_SHOWN) + " more"
        : first;
  }

  private void become(String tree) throws IOException {
    State next = new State(state.baseline(), tree, state.steps() + 1);
    next.write(folder);
    state = next;
  }

  public synchronized void delete() throws IOException {
    // The state first: a folder that is half gone is no workspace.
    Synced.delete(folder.resolve(State.FILE));
    FileTrees.delete(folder);
  }
}
