package dev.holdfast.workspace.git;

import static dev.holdfast.workspace.git.Sources.sh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A program has the worker's user, and can write wherever the worker can: into its clone, into our
 * snapshots beside it, into the mirror. Whatever it writes there, the worker's git runs none of it.
 */
@OnlyWithAll
class GitSettingsOfProgramsTest {
  @TempDir Path folder;
  private Path source;

  @BeforeEach
  void aRepository() throws Exception {
    source = Sources.repository(folder.resolve("source"));
  }

  private Git git() throws IOException {
    return Git.installed(folder.resolve("home"), WorkspaceTest.path());
  }

  private Workspace create(String name) throws IOException {
    return Workspace.create(
        folder.resolve(name),
        new Repository(source.toString(), "main"),
        null,
        folder.resolve("cache"),
        git());
  }

  /** In the work folder, with $D as git directory; $RUN is a command that leaves a trace. */
  private void inGitDir(Workspace workspace, Path gitDir, String script) throws Exception {
    sh(
        workspace.work(),
        """
        export D=%s RUN='touch %s' SOURCE=%s ELSEWHERE=%s
        export GIT_DIR=$D GIT_WORK_TREE=$PWD GIT_INDEX_FILE=%s
        rm -f $GIT_INDEX_FILE; git config --file "$D/config" core.bare false
        """
                .formatted(
                    gitDir,
                    folder.resolve("ran"),
                    source,
                    Files.createDirectories(folder.resolve("elsewhere")),
                    folder.resolve("plain-index"))
            + script);
  }

  private List<Path> gitDirs(Workspace workspace) throws Exception {
    return List.of(
        workspace.work().resolve(".git"),
        workspace.work().resolveSibling("shadow.git"),
        Path.of(sh(folder.resolve("cache"), "ls -d $PWD/*.git")));
  }

  private static final String ATTRIBUTES = "mkdir -p $D/info; echo '* filter=t diff=t' > ";
  private static final String EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

  // What a program leaves, and the call of an ordinary git that shows that it would run.
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          clean filter       | git config filter.t.clean "$RUN; cat"; @ $D/info/attributes               | git add -A
          smudge filter      | git config filter.t.smudge "$RUN; cat"; @ $D/info/attributes              | git read-tree HEAD; git checkout-index -f -a
          filter process     | git config filter.t.process "$RUN"; @ $D/info/attributes                  | git add -A
          attributes file    | git config filter.t.clean "$RUN; cat"; @ $ELSEWHERE/a; git config core.attributesFile $ELSEWHERE/a | git add -A
          .gitattributes     | git config filter.t.clean "$RUN; cat"; @ .gitattributes                   | git add -A
          include            | git config --file $ELSEWHERE/c filter.t.clean "$RUN; cat"; git config include.path $ELSEWHERE/c; @ $D/info/attributes | git add -A
          include if         | git config --file $ELSEWHERE/c filter.t.clean "$RUN; cat"; git config includeIf.gitdir:/.path $ELSEWHERE/c; @ $D/info/attributes | git add -A
          worktree's config  | git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config --file $D/config.worktree filter.t.clean "$RUN; cat"; @ $D/info/attributes | git add -A
          common directory   | mkdir -p $ELSEWHERE/g/info; cp -r $D/objects $D/refs $D/HEAD $ELSEWHERE/g; git config --file $ELSEWHERE/g/config filter.t.clean "$RUN; cat"; @ $ELSEWHERE/g/info/attributes; echo $ELSEWHERE/g > $D/commondir | git add -A
          configuration link | rm $D/config; git config --file $ELSEWHERE/c filter.t.clean "$RUN; cat"; ln -s $ELSEWHERE/c $D/config; @ $D/info/attributes | git add -A
          fsmonitor          | git config core.fsmonitor "$RUN; false"                                   | git add -A
          hook               | mkdir -p $D/hooks; for h in post-index-change reference-transaction post-checkout; do printf '#!/bin/sh\\n%s\\n' "$RUN" > $D/hooks/$h; chmod 755 $D/hooks/$h; done | git add -A; git update-ref refs/heads/x HEAD
          hooks' folder      | git config core.hooksPath $ELSEWHERE; printf '#!/bin/sh\\n%s\\n' "$RUN" > $ELSEWHERE/post-index-change; chmod 755 $ELSEWHERE/post-index-change; cp -p $ELSEWHERE/post-index-change $ELSEWHERE/reference-transaction | git add -A; git update-ref refs/heads/x HEAD
          external diff      | git config diff.external "$RUN;:"                                          | git diff # HEAD
          diff driver        | git config diff.t.command "$RUN;:"; @ $D/info/attributes                    | git diff # HEAD
          text conversion    | git config diff.t.textconv "$RUN; cat"; git config diff.t.cachetextconv false; @ $D/info/attributes | git diff # HEAD
          pager              | git config core.pager "$RUN; cat"                                         | script -qec 'git log' /dev/null
          editor             | git config core.editor "$RUN; false"                                      | git tag -a x HEAD
          gpg                | git config gpg.program "$ELSEWHERE/g"; printf '#!/bin/sh\\n%s\\n' "$RUN" > $ELSEWHERE/g; chmod 755 $ELSEWHERE/g; git config tag.gpgSign true; git config commit.gpgSign true | git tag -s -m x x HEAD
          ssh                | git config core.sshCommand "$RUN; false"                                  | git ls-remote ssh://localhost/x
          other transport    | git config protocol.ext.allow always; git config "url.ext::$RUN .insteadOf" "$SOURCE" | git ls-remote "$SOURCE"
          upload pack        | git config remote.origin.url "$SOURCE"; git config remote.origin.uploadpack "$RUN; git-upload-pack" | git ls-remote origin
          alternate refs     | mkdir -p $D/objects/info; echo $SOURCE/.git/objects > $D/objects/info/alternates; git config core.alternateRefsCommand "$RUN; :" | git fetch $SOURCE
          partial clone      | git config core.repositoryFormatVersion 1; git config extensions.partialClone o; git config remote.o.promisor true; git config remote.o.url $SOURCE; git config remote.o.uploadpack "$RUN; git-upload-pack" | git cat-file -p 1111111111111111111111111111111111111111
          """)
  void no_setting_that_a_program_wrote_into_a_git_directory_is_used(
      String name, String script, String plain) throws Exception {
    Workspace first = create("first");
    Changes before = first.changes();
    for (Path gitDir : gitDirs(first)) {
      inGitDir(first, gitDir, script.replace("@ ", ATTRIBUTES));
      inGitDir(first, gitDir, "{ " + plain.replace("#", EMPTY_TREE) + "; } || true");
      assertThat(folder.resolve("ran")).as("%s in %s", name, gitDir).exists();
      Files.delete(folder.resolve("ran"));
    }
    sh(first.work(), "echo four >> a.txt; echo new > new.txt; rm -f .gitattributes");

    Changes changes = first.changes();
    assertThat(changes.changedFiles()).containsExactly("a.txt", "new.txt");
    assertThat(first.changedSince(before.tree())).containsExactly("a.txt", "new.txt");
    first.accept(changes);
    // The mirror, and files that git writes.
    Workspace again = create("again");
    inGitDir(again, again.work().resolveSibling("shadow.git"), script.replace("@ ", ATTRIBUTES));
    sh(again.work(), "rm -f .gitattributes");
    again.replay(changes.patch(), changes.diffHash(), changes.tree());
    assertThat(Workspace.open(folder.resolve("again"), git()).changes().isEmpty()).isTrue();
    assertThat(folder.resolve("ran")).doesNotExist();
  }

  @Test
  void nothing_is_taken_from_a_home_from_the_path_or_from_the_environment() throws Exception {
    Workspace workspace = create("w");
    String run = "touch " + folder.resolve("ran");
    // Beside what git needs for a call, where a program finds it.
    sh(
        folder.resolve("home"),
        """
        mkdir -p git .config/git .ssh
        for f in .gitconfig git/config .config/git/config; do
          git config --file $f filter.t.clean '%1$s; cat'; git config --file $f core.fsmonitor '%1$s'
        done
        for f in git/attributes .config/git/attributes; do echo '* filter=t' > $f; done
        for p in git env; do
          printf '#!/bin/sh\\n%1$s\\nexec /usr/bin/'$p' "$@"\\n' > %2$s/$p; chmod 755 %2$s/$p; echo $p >> %2$s/.git/info/exclude
        done
        """
            .formatted(run, workspace.work()));
    sh(
        folder,
        "mkdir bin; printf '#!/bin/sh\\nenv > %s/seen\\nexec %s \"$@\"\\n' > bin/git; chmod 755 bin/git"
            .formatted(folder, sh(folder, "command -v git")));
    Git relative =
        Git.installed(
            folder.resolve("home"),
            Map.of("PATH", ".::" + folder.resolve("bin") + ":bin:/usr/bin:/bin"));
    sh(workspace.work(), "echo four >> a.txt");
    assertThat(workspace.using(relative).changes().changedFiles()).containsExactly("a.txt");
    assertThat(folder.resolve("ran")).doesNotExist();
    assertThat(Files.readAllLines(folder.resolve("seen")))
        .filteredOn(
            line -> line.startsWith("GIT_") || line.startsWith("HOME=") || line.startsWith("XDG_"))
        .filteredOn(line -> !line.matches("GIT_CONFIG_(KEY|VALUE)_\\d+=.*"))
        .extracting(line -> line.substring(0, line.indexOf('=')))
        .containsExactlyInAnyOrder(
            "GIT_ALLOW_PROTOCOL",
            "GIT_ASKPASS",
            "GIT_ATTR_NOSYSTEM",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_NOSYSTEM",
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "GIT_NO_LAZY_FETCH",
            "GIT_NO_REPLACE_OBJECTS",
            "GIT_OBJECT_DIRECTORY",
            "GIT_OPTIONAL_LOCKS",
            "GIT_SSH_COMMAND",
            "GIT_TERMINAL_PROMPT",
            "GIT_WORK_TREE",
            "HOME",
            "XDG_CONFIG_HOME");
  }

  @Test
  void an_index_that_a_program_changed_hides_nothing() throws Exception {
    Workspace workspace = create("w");
    sh(
        workspace.work(),
        """
        echo four >> a.txt
        for i in ../shadow.git/index-*; do
          GIT_DIR=$PWD/../shadow.git GIT_WORK_TREE=$PWD GIT_INDEX_FILE=$i git update-index --assume-unchanged a.txt
        done
        """);
    assertThat(workspace.changes().changedFiles()).containsExactly("a.txt");
  }

  @Test
  void files_of_a_call_are_deleted_after_it() throws Exception {
    Workspace workspace = create("w");
    sh(workspace.work(), "mkdir n; git init -q n; echo x > n/x");
    assertThat(workspace.changes().changedFiles()).containsExactly("n/x");
    assertThat(folder.resolve("home")).isEmptyDirectory();
  }

  @Test
  void what_leads_elsewhere_is_not_followed() throws Exception {
    Workspace first = create("first");
    sh(
        folder,
        """
        mkdir -p precious/objects precious/hooks; echo mine | tee precious/config precious/x > precious/HEAD
        cd cache; m=$(ls -d *.git); rm -rf $m; ln -s ../precious $m
        """);
    assertThat(create("second").baseline()).isEqualTo(first.baseline());
    assertThat(sh(folder, "cd precious; find . | sort | xargs; cat config x HEAD"))
        .isEqualTo(". ./HEAD ./config ./hooks ./objects ./x\nmine\nmine\nmine");
  }
}
