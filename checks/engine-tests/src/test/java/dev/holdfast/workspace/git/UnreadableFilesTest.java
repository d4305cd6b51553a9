package dev.holdfast.workspace.git;

import static dev.holdfast.workspace.git.Sources.sh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.FailureClass;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files and folders that containers leave without permissions. */
@OnlyWithAll
class UnreadableFilesTest {
  @TempDir Path folder;
  private Workspace workspace;

  @BeforeEach
  void aWorkspace() throws Exception {
    Path source = Sources.repository(folder.resolve("source"));
    // Permissions count for the test's user, too, when that is root.
    sh(
        folder,
        """
        mkdir bin; printf '#!/bin/sh\\n[ $(id -u) != 0 ] || \
        exec setpriv --bounding-set -dac_override,-dac_read_search %1$s "$@"\\nexec %1$s "$@"\\n' > bin/git
        chmod 755 bin/git
        """
            .formatted(sh(folder, "command -v git")));
    workspace =
        Workspace.create(
            folder.resolve("w"),
            new Repository(source.toString(), "main"),
            null,
            folder.resolve("cache"),
            Git.installed(
                folder.resolve("home"),
                Map.of("PATH", folder.resolve("bin") + ":/usr/local/bin:/usr/bin:/bin")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          chmod 000 src/b.txt; touch src/b.txt                 | src/b.txt
          echo x > 'new file'; chmod 000 'new file'            | new file
          echo x > src/b.txt; chmod 000 src                    | src/b.txt
          """)
  void a_file_that_cannot_be_read_is_named_and_may_be_readable_next_time(String left, String name)
      throws Exception {
    sh(workspace.work(), left);
    assertThatThrownBy(workspace::changes)
        .isInstanceOfSatisfying(
            GitException.class,
            e -> assertThat(e.failureClass()).isEqualTo(FailureClass.TRANSIENT_RUNTIME))
        .hasMessageContaining(name)
        .hasMessageContaining("Permission denied");
    sh(
        workspace.work(),
        "chmod 755 src; chmod 644 src/b.txt *.txt 'new file' || true; echo four >> a.txt");
    assertThat(workspace.changes().changedFiles()).contains("a.txt");
  }

  @Test
  void a_new_folder_that_cannot_be_read_is_left_out_with_a_warning() throws Exception {
    sh(workspace.work(), "mkdir closed; echo x > closed/x; chmod 000 closed; echo four >> a.txt");
    Changes changes = workspace.changes();
    assertThat(changes.changedFiles()).containsExactly("a.txt");
    assertThat(changes.warnings())
        .containsExactly("'closed/': Permission denied: it is not in the patch");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          fatal: could not open '/w/a.pack' for reading: Permission denied             | false | TRANSIENT_RUNTIME
          error: open("locked/x"): Permission denied                                   | false | TRANSIENT_RUNTIME
          fatal: unable to create '/c/x.git/packed-refs.lock': Permission denied       | true  | TRANSIENT_RUNTIME
          fatal: repository '/w' does not exist                                        | false | TRANSIENT_RUNTIME
          fatal: '/nowhere' does not exist                                             | true  | TRANSIENT_RUNTIME
          git@example.org: Permission denied (publickey).                              | true  | DETERMINISTIC_REPO
          remote: Permission to a/b.git denied to c.                                   | true  | DETERMINISTIC_REPO
          fatal: repository '/nowhere' does not exist                                  | true  | DETERMINISTIC_REPO
          fatal: unable to access 'https://x/': The requested URL returned error: 403  | true  | DETERMINISTIC_REPO
          """)
  void only_what_a_server_refuses_is_refused_for_ever(
      String said, boolean byServer, FailureClass expected) {
    assertThat(GitException.failed("x", 128, List.of(said), byServer).failureClass())
        .isEqualTo(expected);
  }
}
