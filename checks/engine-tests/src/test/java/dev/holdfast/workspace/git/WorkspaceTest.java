package dev.holdfast.workspace.git;

import static dev.holdfast.testkit.Soon.SOON;
import static dev.holdfast.workspace.git.Sources.sh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The changes of a step are restored from its patch byte by byte. */
@OnlyWithAll
class WorkspaceTest {
  @TempDir Path folder;
  private Git git;
  private Repository repository;

  @BeforeEach
  void aRepository() throws Exception {
    git = Git.installed(folder.resolve("home"), path());
    repository = new Repository(Sources.repository(folder.resolve("source")).toString(), "main");
  }

  static Map<String, String> path() {
    return Map.of("PATH", Objects.requireNonNull(System.getenv("PATH")));
  }

  private Workspace create(String name) throws IOException {
    return create(name, null);
  }

  private Workspace create(String name, @Nullable String commit) throws IOException {
    return Workspace.create(folder.resolve(name), repository, commit, folder.resolve("cache"), git);
  }

  /** Accepts what was changed, and keeps the patch under the step's name. */
  private Changes step(Workspace workspace, String script) throws Exception {
    sh(workspace.work(), script);
    return kept(workspace, workspace.changes());
  }

  private Changes kept(Workspace workspace, Changes changes) throws IOException {
    workspace.accept(changes);
    Path patch =
        Files.move(changes.patch(), folder.resolve("step-000" + workspace.steps() + ".patch"));
    return new Changes(
        changes.base(),
        changes.tree(),
        patch,
        changes.diffHash(),
        changes.changedFiles(),
        changes.warnings());
  }

  private static void replay(Workspace workspace, Changes step) throws IOException {
    workspace.replay(step.patch(), step.diffHash(), step.tree());
  }

  /** Every name, kind, permission, link and byte, but for the program's own .git. */
  private static String all(Workspace workspace) throws Exception {
    return sh(
        workspace.work(),
        "find . -name .git -prune -o ! -type d -printf '%p %y %m %l ' -type f -exec sha256sum {} \\; -o ! -type d -print | LC_ALL=C sort");
  }

  @Test
  void begins_as_an_ordinary_clone_at_the_start_commit() throws Exception {
    Workspace workspace = create("w");
    assertThat(workspace.baseline()).isEqualTo(sh(folder.resolve("source"), "git rev-parse HEAD"));
    assertThat(sh(workspace.work(), "git rev-parse HEAD")).isEqualTo(workspace.baseline());
    assertThat(sh(workspace.work(), "git status --porcelain=v1 --branch"))
        .isEqualTo("## HEAD (no branch)");
    assertThat(sh(workspace.work(), "git branch -r")).contains("origin/main");
    assertThat(sh(workspace.work(), "git config remote.origin.url")).isEqualTo(repository.url());
    assertThat(workspace.work().resolve("a.txt")).hasContent("one\ntwo\nthree\n");
    Changes none = workspace.changes();
    assertThat(none.isEmpty()).isTrue();
    assertThat(none.changedFiles()).isEmpty();
    assertThat(none.patch()).isEmptyFile();
  }

  @Test
  void a_step_has_a_patch_its_hash_and_its_files() throws Exception {
    Workspace workspace = create("w");
    sh(workspace.work(), "echo four >> a.txt; echo new > 'c d.txt'; rm src/b.txt; echo x > a.log");
    Changes changes = workspace.changes();
    assertThat(changes.changedFiles()).containsExactly("a.txt", "c d.txt", "src/b.txt");
    // Pinned: another git, another machine must come to the same.
    assertThat(changes.diffHash())
        .isEqualTo("5c74c72fa7c522ef26ad389335caf08cd009babba87c7ecfa6e15306db27116a");
    assertThat(changes.diffHash())
        .isEqualTo(sh(folder, "sha256sum < " + changes.patch()).substring(0, 64));
    assertThat(workspace.changes().diffHash()).isEqualTo(changes.diffHash());
  }

  private static final String ODDITIES =
      """
      printf 'a\\r\\nb\\r\\n' > crlf.txt
      printf 'no newline' > end.txt
      printf 'lone\\rreturn\\n' > return.txt
      : > empty
      chmod 755 a.txt
      printf '#!/bin/sh\\n' > run.sh && chmod 755 run.sh
      ln -s nowhere dangling
      ln -s src folderlink
      mkdir -p d && printf x > 'd/with space' && printf x > 'd/"quoted"' && printf x > "d/it's"
      printf x > 'd/back\\slash' && printf x > "d/new
      line" && printf x > "d/tab	tab" && printf x > d/größe-日本 && printf x > d/-dash
      printf x > d/*star && printf x > 'd/[a]?' && printf x > ':(top)magic' && printf x > 'git~1'
      printf x > "$(printf 'd/latin\\351')"
      printf 'latin \\351\\n' > latin.txt
      printf '* text=auto eol=crlf\\n*.txt -diff ident filter=missing\\n*.u working-tree-encoding=UTF-16\\n' > .gitattributes
      printf '$Id$\\n' > id.txt
      printf 'utf8\\n' > u.u
      rm src/b.txt && printf 'now a file\\n' > src2 && rm -r src && printf 'file\\n' > src
      head -c 5000000 /dev/urandom > big.bin
      printf 'a\\0b' > small.bin
      mkfifo pipe
      """;

  private static final String MORE_ODDITIES =
      """
      printf 'a\\nb\\n' > crlf.txt
      chmod 644 run.sh
      rm src && mkdir src && printf 'folder again\\n' > src/b.txt
      rm dangling && mkdir dangling && printf x > dangling/x
      rm folderlink && printf 'a file\\n' > folderlink
      rm latin.txt && ln -s a.txt latin.txt
      printf y >> big.bin
      rm empty small.bin "$(printf 'd/latin\\351')" "d/new
      line"
      mv a.txt renamed.txt
      """;

  @Test
  void every_kind_of_change_is_replayed_byte_by_byte() throws Exception {
    Workspace workspace = create("w");
    Changes first = step(workspace, ODDITIES);
    Changes second = step(workspace, MORE_ODDITIES);
    assertThat(first.changedFiles())
        .contains(
            "d/größe-日本", "d/new\nline", "d/\"quoted\"", "\"d/latin\\351\"", "src", "src/b.txt")
        .doesNotContain("pipe");

    Workspace again = create("again", workspace.baseline());
    replay(again, first);
    replay(again, second);
    assertThat(again.steps()).isEqualTo(2);
    assertThat(again.changes().isEmpty()).isTrue();
    sh(workspace.work(), "rm pipe");
    assertThat(all(again)).isEqualTo(all(workspace)).contains("big.bin");
  }

  @Test
  void line_endings_converted_at_checkout_are_not_recorded_as_changes() throws Exception {
    sh(
        folder.resolve("source"),
        "printf '*.txt eol=crlf\\n*.u working-tree-encoding=UTF-16LE\\n' > .gitattributes;"
            + " printf 'u\\0\\n\\0' > u.u; git add -A; git commit -q -m attributes");
    Workspace workspace = create("w");
    assertThat(workspace.work().resolve("a.txt")).hasContent("one\r\ntwo\r\nthree\r\n");
    assertThat(workspace.changes().isEmpty()).isTrue();
    sh(workspace.work(), "rm a.txt u.u; git checkout -q -- .");
    assertThat(workspace.changes().isEmpty()).isTrue();
    Changes step = step(workspace, "printf 'four\\r\\n' >> a.txt");
    Workspace again = create("again", workspace.baseline());
    replay(again, step);
    assertThat(all(again)).isEqualTo(all(workspace));
  }

  @Test
  void a_change_of_the_same_size_in_the_same_second_is_detected() throws Exception {
    Workspace workspace = create("w");
    Path file = workspace.work().resolve("a.txt");
    long before;
    do {
      Files.writeString(file, "ONE\n" + System.nanoTime());
      before = second(file);
      workspace.accept(workspace.changes());
      Files.writeString(file, "TWO\n" + System.nanoTime());
    } while (second(file) != before);
    // Read in a later second: now the file differs from the one before only in its bytes.
    long then = before;
    await().atMost(SOON).until(() -> System.currentTimeMillis() / 1_000 > then);
    assertThat(workspace.changes().changedFiles()).containsExactly("a.txt");
  }

  private static long second(Path file) throws IOException {
    return ((FileTime) Files.getAttribute(file, "unix:ctime")).to(TimeUnit.SECONDS);
  }

  @Test
  void ignored_files_are_not_recorded() throws Exception {
    Workspace workspace = create("w");
    sh(workspace.work(), "echo x > a.log; echo 'private*' >> .git/info/exclude; echo x > private1");
    assertThat(workspace.changes().isEmpty()).isTrue();
    // One that an earlier attempt left, and that is ignored since, is not remembered.
    sh(workspace.work(), "echo x > a.tmp");
    assertThat(workspace.changes().changedFiles()).containsExactly("a.tmp");
    sh(workspace.work(), "echo '*.tmp' >> .gitignore");
    assertThat(workspace.changes().changedFiles()).containsExactly(".gitignore");
  }

  @Test
  void a_recorded_file_that_a_later_step_ignores_is_kept() throws Exception {
    Workspace workspace = create("w");
    Changes first = step(workspace, "echo 1 > a.tmp");
    Changes second = step(workspace, "echo 2 > a.tmp; echo '*.tmp' >> .gitignore");
    Workspace again = create("again", workspace.baseline());
    replay(again, first);
    replay(again, second);
    assertThat(again.work().resolve("a.tmp")).hasContent("2\n");
  }

  // ---- failures

  @Test
  void a_patch_that_does_not_apply_throws_and_changes_nothing() throws Exception {
    Workspace workspace = create("w");
    Changes first = step(workspace, "echo four >> a.txt; echo new > new.txt");
    Changes second = step(workspace, "echo five >> a.txt; rm new.txt");
    Workspace again = create("again", workspace.baseline());
    String before = all(again);
    assertThatThrownBy(() -> replay(again, second))
        .isInstanceOf(ReplayException.class)
        .hasMessageContaining("step-0002.patch cannot be replayed")
        .hasMessageContaining("patch does not apply");
    assertThat(all(again)).isEqualTo(before);
    assertThat(again.steps()).isZero();
    replay(again, first);
    replay(again, second);
  }

  @Test
  void a_patch_that_is_damaged_missing_or_writes_outside_is_not_replayed() throws Exception {
    Workspace workspace = create("w");
    Changes step = step(workspace, "echo four >> a.txt");
    Workspace again = create("again", workspace.baseline());
    assertThatThrownBy(() -> again.replay(step.patch(), step.diffHash(), step.base()))
        .isInstanceOf(ReplayException.class)
        .hasMessageContaining("it leads to tree " + step.tree());
    assertThat(again.work().resolve("a.txt")).hasContent("one\ntwo\nthree\n");
    assertThatThrownBy(() -> again.replay(step.patch(), "0".repeat(64), step.tree()))
        .isInstanceOf(ReplayException.class)
        .hasMessageContaining("it is damaged");
    Files.delete(step.patch());
    assertThatThrownBy(() -> replay(again, step))
        .isInstanceOf(ReplayException.class)
        .hasMessageContaining("it is missing");
    assertThat(again.steps()).isZero();
  }

  @Test
  void other_files_found_by_a_replay_are_named() throws Exception {
    Workspace workspace = create("w");
    Changes step = step(workspace, "echo four >> a.txt");
    Workspace again = create("again", workspace.baseline());
    sh(again.work(), "echo x > stranger");
    assertThatThrownBy(() -> replay(again, step))
        .isInstanceOf(ReplayException.class)
        .hasMessageContaining("other files differ: stranger");
    assertThat(again.steps()).isZero();
  }

  @Test
  void a_step_without_changes_is_recorded() throws Exception {
    Workspace workspace = create("w");
    Changes step = step(workspace, "touch a.txt");
    assertThat(step.patch()).isEmptyFile();
    Workspace again = create("again", workspace.baseline());
    replay(again, step);
    assertThat(again.steps()).isEqualTo(1);
  }

  @Test
  void a_patch_that_is_too_large_is_refused() throws Exception {
    Workspace workspace = create("w");
    sh(workspace.work(), "head -c 30000 /dev/urandom > big.bin");
    assertThatThrownBy(() -> workspace.changes(30_000))
        .isInstanceOf(PatchTooLargeException.class)
        .hasMessageContaining("larger than 30,000 bytes");
    assertThat(workspace.changes().changedFiles()).containsExactly("big.bin");
  }

  @Test
  void changes_are_accepted_once() throws Exception {
    Workspace workspace = create("w");
    sh(workspace.work(), "echo four >> a.txt");
    Changes changes = workspace.changes();
    workspace.accept(changes);
    assertThatThrownBy(() -> workspace.accept(changes))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(workspace.steps()).isEqualTo(1);
  }

  @Test
  void a_step_is_accepted_whole_though_the_thread_is_interrupted() throws Exception {
    Workspace workspace = create("w");
    sh(workspace.work(), "echo four >> a.txt");
    Changes changes = workspace.changes();
    Thread.currentThread().interrupt();
    workspace.accept(changes);
    assertThatThrownBy(workspace::changes).isInstanceOf(CancellationException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Workspace.open(folder.resolve("w"), git).steps()).isEqualTo(1);
  }

  @Test
  void a_work_folder_that_is_missing_or_a_symbolic_link_is_refused() throws Exception {
    Workspace workspace = create("w");
    sh(folder, "mkdir elsewhere; echo x > elsewhere/x; rm -rf w/work; ln -s ../elsewhere w/work");
    assertThatThrownBy(workspace::changes)
        .isInstanceOf(GitException.class)
        .hasMessageContaining("is gone, or no folder");
    sh(folder, "rm w/work");
    assertThatThrownBy(workspace::changes).isInstanceOf(GitException.class);
  }

  // ---- continuing

  @Test
  void another_process_continues_where_the_last_one_stopped() throws Exception {
    Workspace workspace = create("w");
    step(workspace, "echo four >> a.txt");
    sh(workspace.work(), "echo five >> a.txt");
    // A git that was killed leaves its lock; an index may be lost.
    sh(folder.resolve("w/shadow.git"), "touch index.new.lock; rm index-*");
    Workspace opened = Workspace.open(folder.resolve("w"), git);
    assertThat(opened.steps()).isEqualTo(1);
    assertThat(opened.baseline()).isEqualTo(workspace.baseline());
    assertThat(Files.readString(opened.changes().patch()))
        .contains("+five")
        .doesNotContain("+four");
  }

  @Test
  void an_unfinished_workspace_is_started_again() throws Exception {
    sh(folder, "mkdir -p w/work w/shadow.git; echo x > w/work/x");
    assertThatThrownBy(() -> Workspace.open(folder.resolve("w"), git))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no finished workspace");
    Workspace workspace = create("w");
    assertThat(workspace.changes().isEmpty()).isTrue();
    assertThatThrownBy(() -> create("w"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("open it, or delete it");
  }

  @Test
  void a_replay_can_be_repeated_wherever_it_was_interrupted() throws Exception {
    Workspace workspace = create("w");
    Changes first = step(workspace, "echo four >> a.txt; mkdir x; echo 1 > x/1");
    Changes second = step(workspace, "echo five >> a.txt; rm -r x; echo 2 > x; rm src/b.txt");
    Workspace again = create("again", workspace.baseline());
    replay(again, first);
    int cuts = 0;
    while (isCutOff(cuts, second)) {
      Workspace opened = Workspace.open(folder.resolve("again"), git);
      assertThat(opened.steps()).as("after %s looks", cuts).isEqualTo(1);
      cuts++;
    }
    assertThat(cuts).isGreaterThan(4);
    Workspace opened = Workspace.open(folder.resolve("again"), git);
    assertThat(opened.steps()).isEqualTo(2);
    assertThat(opened.changes().isEmpty()).isTrue();
    assertThat(all(opened)).isEqualTo(all(workspace));
  }

  private boolean isCutOff(int looks, Changes step) throws IOException {
    AtomicInteger left = new AtomicInteger(looks);
    Git impatient = git.cancelledBy(() -> left.getAndDecrement() <= 0);
    try {
      replay(Workspace.open(folder.resolve("again"), impatient), step);
      return false;
    } catch (CancellationException cutOff) {
      return true;
    }
  }

  @Test
  void deleting_a_workspace_deletes_folders_without_permissions_too() throws Exception {
    Workspace workspace = create("w");
    sh(
        workspace.work(),
        "mkdir -p locked/in; echo x > locked/in/x; ln -s / root; chmod 000 locked/in locked");
    workspace.delete();
    assertThat(folder.resolve("w")).doesNotExist();
  }
}
