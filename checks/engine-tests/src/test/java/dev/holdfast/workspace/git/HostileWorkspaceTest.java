package dev.holdfast.workspace.git;

import static dev.holdfast.workspace.git.Sources.sh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever the program does to its .git, changes of files are recorded, and nothing runs. */
@OnlyWithAll
class HostileWorkspaceTest {
  @TempDir Path folder;

  private Workspace create(String name) throws IOException {
    return create(name, "main");
  }

  private Workspace create(String name, String ref) throws IOException {
    return Workspace.create(
        folder.resolve(name),
        new Repository(folder.resolve("source").toString(), ref),
        null,
        folder.resolve("cache"),
        Git.installed(folder.resolve("home"), WorkspaceTest.path()));
  }

  private Path source() throws Exception {
    return Sources.repository(folder.resolve("source"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "git add -A; git commit -q -m mine",
        "git add -A; git commit -q -m mine; git checkout -q -b other; git branch -D main || true",
        "git add a.txt; git stash -q; git stash pop -q",
        "git add -A; git commit -q -m mine; git reset -q --soft HEAD~1",
        "git update-index --assume-unchanged a.txt; git update-index --skip-worktree src/b.txt",
        "git config core.worktree /tmp; git config core.bare true",
        "git config core.ignoreCase true; git config core.fileMode false",
        "rm -rf .git",
        "rm -rf .git; git init -q .",
        "rm -rf .git; echo 'gitdir: /nowhere' > .git",
        "rm -rf .git; ln -s ../shadow.git .git",
        "git gc -q --prune=now --aggressive",
        "rm .git/index .git/HEAD; rm -rf .git/objects"
      })
  void snapshots_depend_only_on_the_files(String misdeed) throws Exception {
    source();
    Workspace workspace = create("w");
    sh(workspace.work(), "echo four >> a.txt; echo x > src/b.txt; echo new > new.txt; " + misdeed);
    assertThat(workspace.changes().changedFiles()).containsExactly("a.txt", "new.txt", "src/b.txt");
  }

  @Test
  void changes_that_the_program_reverted_are_not_recorded() throws Exception {
    sh(source(), "git checkout -q -b other; echo o > other.txt; git add -A; git commit -q -m o");
    Workspace workspace = create("w");
    sh(workspace.work(), "echo four >> a.txt; git reset -q --hard");
    assertThat(workspace.changes().isEmpty()).isTrue();
    sh(workspace.work(), "git checkout -q origin/other");
    assertThat(workspace.changes().changedFiles()).containsExactly("other.txt");
  }

  /** Configures every way in which git runs other programs. */
  private String traps() {
    return """
        ran='touch %s'
        for hook in pre-commit post-checkout post-index-change pre-applypatch applypatch-msg \
            reference-transaction post-merge pre-auto-gc fsmonitor-watchman; do
          printf '#!/bin/sh\\n%%s\\n' "$ran" > "$(git rev-parse --git-path hooks)/$hook"
          chmod 755 "$(git rev-parse --git-path hooks)/$hook"
        done
        git config core.fsmonitor "$ran; false"
        git config core.sshCommand "$ran"
        git config core.pager "$ran"
        git config core.editor "$ran"
        git config core.hooksPath "$(git rev-parse --absolute-git-dir)/hooks"
        git config credential.helper "!$ran"
        git config diff.external "$ran"
        git config diff.trap.textconv "$ran"
        git config diff.trap.command "$ran"
        git config filter.trap.clean "$ran; cat"
        git config filter.trap.smudge "$ran; cat"
        git config filter.trap.process "$ran"
        git config alias.add "!$ran"
        git config alias.ls-files "!$ran"
        printf '* filter=trap diff=trap merge=trap\\n' > .gitattributes
        """
        .formatted(folder.resolve("ran"));
  }

  @Test
  void git_configuration_and_hooks_of_the_program_are_not_run() throws Exception {
    source();
    Workspace workspace = create("w");
    sh(workspace.work(), traps() + "echo four >> a.txt; echo new > new.txt");
    // The shadow repository is beside it, and the program can write there.
    sh(workspace.work(), "export GIT_DIR=../shadow.git; mkdir -p ../shadow.git/hooks; " + traps());
    // The traps do work.
    sh(workspace.work(), "git status || true");
    assertThat(folder.resolve("ran")).exists();
    Files.delete(folder.resolve("ran"));

    Changes changes = workspace.changes();
    assertThat(changes.changedFiles()).containsExactly(".gitattributes", "a.txt", "new.txt");
    workspace.accept(changes);
    Workspace again = create("again");
    sh(again.work(), traps());
    again.replay(changes.patch(), changes.diffHash(), changes.tree());
    assertThat(folder.resolve("ran")).doesNotExist();
    assertThat(again.work().resolve("a.txt")).hasContent("one\ntwo\nthree\nfour\n");
  }

  @Test
  void filters_and_diff_drivers_of_the_repository_are_not_run() throws Exception {
    sh(source(), traps() + "rm -f .git/hooks/*; git config --unset-all filter.trap.process; true");
    sh(
        folder.resolve("source"),
        "GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=filter.trap.clean GIT_CONFIG_VALUE_0=cat"
            + " GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false"
            + " git -c core.hooksPath=/dev/null commit -q -a --allow-empty -m traps");
    sh(folder, "rm -f ran");
    create("w");
    assertThat(folder.resolve("ran")).doesNotExist();
  }

  // ---- neighbours

  @Test
  void a_program_that_overwrites_its_objects_damages_no_other_workspace() throws Exception {
    source();
    Workspace mine = create("mine");
    Workspace other = create("other");
    assertThat(sh(folder, "find mine other cache -type f -links +1")).isEmpty();
    assertThat(sh(folder, "stat -c %a cache/*.git")).isEqualTo("700");
    sh(
        mine.work(),
        """
        for f in $(find .. -path '*/objects/*' -type f); do chmod u+w $f; echo rubbish > $f; done
        """);
    sh(other.work(), "echo four >> a.txt");
    assertThat(other.changes().changedFiles()).containsExactly("a.txt");
    assertThat(sh(folder.resolve("cache"), "cd *.git; git fsck --full 2>&1")).isEmpty();
    assertThat(create("next").changes().isEmpty()).isTrue();
  }

  // ---- repositories inside

  @Test
  void a_nested_repository_is_recorded_with_its_files() throws Exception {
    source();
    Workspace workspace = create("w");
    sh(
        workspace.work(),
        """
        for d in empty 'with space' größe deep/er ignored.log; do
          mkdir -p "$d"; git init -q "$d"; done
        echo 1 > 'with space/1'; echo 2 > größe/2; echo 3 > deep/er/3
        git -C deep/er add -A; git -C deep/er commit -q -m inside
        git init -q 'with space/inner'; echo 4 > 'with space/inner/4'
        echo 5 > ignored.log/5
        """);
    Changes first = workspace.changes();
    assertThat(first.changedFiles())
        .containsExactly("deep/er/3", "größe/2", "with space/1", "with space/inner/4");
    workspace.accept(first);
    Path patch = Files.move(first.patch(), folder.resolve("step-0001.patch"));

    sh(workspace.work(), "echo 33 > deep/er/3; rm 'with space/1'");
    Changes second = workspace.changes();
    assertThat(second.changedFiles()).containsExactly("deep/er/3", "with space/1");
    workspace.accept(second);

    Workspace again = create("again");
    again.replay(patch, first.diffHash(), first.tree());
    again.replay(second.patch(), second.diffHash(), second.tree());
    assertThat(again.work().resolve("deep/er/3")).hasContent("33\n");
    assertThat(again.work().resolve("with space/inner/4")).hasContent("4\n");
  }

  private Workspace withSubmodule() throws Exception {
    Sources.repository(folder.resolve("library"));
    sh(
        source(),
        "git -c protocol.file.allow=always submodule --quiet add ../library 'li b';"
            + " git commit -q -m submodule");
    return create("w");
  }

  @Test
  void a_submodule_stays_a_commit_id_and_is_not_read() throws Exception {
    Workspace workspace = withSubmodule();
    assertThat(workspace.work().resolve("li b")).isEmptyDirectory();
    assertThat(workspace.changes().isEmpty()).isTrue();
    assertThat(workspace.changes().warnings()).isEmpty();
    sh(
        workspace.work(),
        "git -c protocol.file.allow=always -c submodule.'li b'.url="
            + folder.resolve("library")
            + " submodule --quiet update --init");
    assertThat(workspace.changes().warnings()).as("as its commit has it").isEmpty();
    sh(workspace.work().resolve("li b"), traps() + "echo x >> a.txt; echo y > new");
    sh(folder, "rm -f ran");
    sh(workspace.work(), "echo z > z.txt");
    Changes changes = workspace.changes();
    assertThat(changes.changedFiles()).containsExactly("z.txt");
    assertThat(changes.warnings())
        .containsExactly(
            "'li b' is a submodule, what was changed in it is not in the patch: .gitattributes, a.txt, new");
    assertThat(folder.resolve("ran")).doesNotExist();
    workspace.accept(changes);
    Workspace again = create("again");
    again.replay(changes.patch(), changes.diffHash(), changes.tree());
    assertThat(again.work().resolve("li b")).isEmptyDirectory();
  }

  @Test
  void a_submodule_that_was_removed_or_became_a_folder_is_a_change() throws Exception {
    Workspace workspace = withSubmodule();
    sh(workspace.work(), "rmdir 'li b'");
    assertThat(workspace.changes().changedFiles()).containsExactly("li b");
    sh(workspace.work(), "mkdir 'li b'; echo mine > 'li b/mine.txt'");
    Changes changes = workspace.changes();
    assertThat(changes.changedFiles()).containsExactly("li b", "li b/mine.txt");
    workspace.accept(changes);
    Workspace again = create("again");
    again.replay(changes.patch(), changes.diffHash(), changes.tree());
    assertThat(again.work().resolve("li b/mine.txt")).hasContent("mine\n");
  }
}
