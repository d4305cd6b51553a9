package dev.holdfast.workspace.git;

import static dev.holdfast.workspace.git.Sources.sh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.value.RefusedException;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.FailureClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workspaces from moving refs, silent servers, and damaged or shared mirrors. */
@OnlyWithAll
class CreateWorkspaceTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path folder;
  private Git git;
  private Path source;

  @BeforeEach
  void aRepository() throws Exception {
    git = Git.installed(folder.resolve("home"), WorkspaceTest.path());
    source = Sources.repository(folder.resolve("source"));
  }

  private Workspace create(String name, String url, String ref, @Nullable String commit)
      throws IOException {
    return create(name, new Repository(url, ref), commit, git);
  }

  private Workspace create(String name, String ref) throws IOException {
    return create(name, source.toString(), ref, null);
  }

  private Workspace create(String name, Repository repository, @Nullable String commit, Git with)
      throws IOException {
    return Workspace.create(
        folder.resolve(name), repository, commit, folder.resolve("cache"), with);
  }

  private String commit(String text) throws Exception {
    return sh(
        source,
        "echo '%s' > a.txt; git add -A; git commit -q -m '%s'; git rev-parse HEAD"
            .formatted(text, text));
  }

  // ---- refs

  @Test
  void a_start_is_a_branch_a_tag_a_full_ref_HEAD_or_a_commit() throws Exception {
    String first = sh(source, "git rev-parse HEAD");
    String second = commit("second");
    sh(source, "git tag -a -m v1 v1 " + first + "; git checkout -q -b 'feature/x'");
    String third = commit("third");
    sh(source, "git update-ref refs/pull/7/head " + third + "; git reset -q --hard " + second);
    assertThat(create("1", "main").baseline()).isEqualTo(second);
    assertThat(create("2", "v1").baseline()).isEqualTo(first);
    assertThat(create("3", "refs/pull/7/head").baseline()).isEqualTo(third);
    assertThat(create("4", "HEAD").baseline()).isEqualTo(second);
    assertThat(create("5", first).baseline()).isEqualTo(first);
    assertThat(create("6", "refs/heads/main").baseline()).isEqualTo(second);
    assertThat(create("7", "file://" + source, "feature/x", null).baseline()).isEqualTo(second);
  }

  @Test
  void a_rebuild_uses_the_first_base_commit_though_the_branch_moved() throws Exception {
    Workspace first = create("1", "main");
    String moved = commit("moved");
    // Not only on: the old commit is on no branch any more.
    sh(source, "git commit -q --amend -m rewritten; git checkout -q --orphan fresh");
    sh(source, "git commit -q -m fresh; git branch -q -f main; git checkout -q main");
    String now = sh(source, "git rev-parse HEAD");
    assertThat(create("2", "main").baseline()).isEqualTo(now).isNotEqualTo(moved);
    // Not even after git gc in the mirror.
    sh(folder, "mv source gone; git -C cache/*.git gc -q --prune=now");
    Workspace rebuilt = create("3", source.toString(), "main", first.baseline());
    assertThat(rebuilt.baseline()).isEqualTo(first.baseline());
    assertThat(rebuilt.work().resolve("a.txt")).hasContent("one\ntwo\nthree\n");
  }

  @Test
  void a_rebuild_needs_no_repository_while_the_mirror_exists() throws Exception {
    String baseline = create("1", "main").baseline();
    sh(folder, "mv source gone");
    assertThat(create("2", source.toString(), "main", baseline).baseline()).isEqualTo(baseline);
    assertThatThrownBy(() -> create("3", "main")).isInstanceOf(GitException.class);
    sh(folder, "rm -rf cache; mv gone source");
    assertThat(create("4", source.toString(), "main", baseline).baseline()).isEqualTo(baseline);
  }

  @Test
  void a_branch_may_be_replaced_by_branches_under_its_name() throws Exception {
    sh(source, "git branch a");
    create("1", "a");
    sh(source, "git branch -D a; git branch a/b");
    create("2", "a/b");
    assertThatThrownBy(() -> create("3", "a")).hasMessageContaining("has no branch");
  }

  // ---- errors that are not retryable

  @Test
  void a_missing_repository_or_ref_is_named_and_not_retryable() throws Exception {
    Files.createDirectories(folder.resolve("empty"));
    assertNever(() -> create("w", "no-such"), "has no branch, tag or commit 'no-such'");
    assertNever(() -> create("w", "refs/heads/no-such"), "refs/heads/no-such");
    assertNever(() -> create("w", "0".repeat(39) + "1"), "0000");
    assertNever(() -> create("w", folder + "/nowhere", "main", null), "does not exist");
    assertNever(() -> create("w", folder + "/empty", "main", null), "git clone failed");
    sh(folder, "git init -q new");
    assertNever(() -> create("w", folder + "/new", "main", null), "has no branch");
    assertNever(() -> create("w", folder + "/new", "HEAD", null), "HEAD");
    assertThatThrownBy(() -> create("w", source.toString(), "main", "main"))
        .isInstanceOf(RefusedException.class);
    assertThat(create("w", "main").steps()).isZero();
  }

  private static void assertNever(Callable<?> creation, String message) {
    assertThatThrownBy(creation::call)
        .isInstanceOfSatisfying(
            GitException.class,
            e -> assertThat(e.failureClass()).isEqualTo(FailureClass.DETERMINISTIC_REPO))
        .hasMessageContaining(message);
  }

  @Test
  void a_missing_or_old_git_is_reported() throws Exception {
    assertThatThrownBy(
            () -> Git.installed(folder.resolve("home"), Map.of("PATH", folder.toString())))
        .isInstanceOfSatisfying(
            GitException.class,
            e -> assertThat(e.failureClass()).isEqualTo(FailureClass.DETERMINISTIC_CONTRACT))
        .hasMessageContaining("install git");
    sh(
        folder,
        "mkdir old; printf '#!/bin/sh\\necho git version 2.30.9\\n' > old/git; chmod 755 old/git");
    Map<String, String> old = Map.of("PATH", folder.resolve("old") + ":/usr/bin:/bin");
    assertThatThrownBy(() -> Git.installed(folder.resolve("home"), old))
        .hasMessageContaining("git 2.31 or newer is needed, here is 'git version 2.30.9'");
  }

  @Test
  void a_git_command_past_its_timeout_is_killed() throws Exception {
    try (StaticServer server = new StaticServer(folder, true, null)) {
      Repository silent = new Repository("http://" + server.address() + "/a.git", "main");
      assertThatThrownBy(() -> create("w", silent, null, git.within(Duration.ofMillis(300))))
          .isInstanceOfSatisfying(
              GitException.class,
              e -> assertThat(e.failureClass()).isEqualTo(FailureClass.TRANSIENT_RUNTIME))
          .hasMessageContaining("git clone took longer");
    }
  }

  @Test
  void a_silent_server_ends_the_clone_with_a_transient_failure() throws Exception {
    try (StaticServer server = new StaticServer(folder, true, null)) {
      Repository silent = new Repository("http://" + server.address() + "/a.git", "main");
      assertThatThrownBy(() -> create("w", silent, null, git.silentFor(Duration.ofMillis(300))))
          .isInstanceOfSatisfying(
              GitException.class,
              e -> assertThat(e.failureClass()).isEqualTo(FailureClass.TRANSIENT_RUNTIME))
          .hasMessageContaining("git clone received nothing from the server");
    }
  }

  // ---- over the network

  private void bare() throws Exception {
    sh(folder, "git clone -q --bare source a.git; git -C a.git update-server-info");
  }

  @Test
  void user_and_password_are_sent_to_the_server_and_not_stored() throws Exception {
    bare();
    // user:secret
    try (StaticServer server = new StaticServer(folder, false, "Basic dXNlcjpzZWNyZXQ=")) {
      String path = server.address() + "/a.git";
      Workspace workspace = create("w", "http://user:secret@" + path, "main", null);
      assertThat(workspace.baseline()).isEqualTo(sh(source, "git rev-parse HEAD"));
      assertThat(sh(folder, "grep -rl secret w cache home || true")).isEmpty();
      assertThatThrownBy(() -> create("x", "http://user:wrong@" + path, "main", null))
          .isInstanceOf(GitException.class)
          .hasMessageContaining(server.address())
          .hasMessageNotContaining("wrong");
      // The mirror exists, and still the server decides who may read it.
      assertThatThrownBy(() -> create("y", "http://" + path, workspace.baseline(), null))
          .isInstanceOf(GitException.class);
    }
  }

  @Test
  void a_clone_ends_when_its_thread_is_interrupted_and_can_be_started_again() throws Exception {
    bare();
    try (StaticServer server = new StaticServer(folder, true, null)) {
      Repository slow = new Repository("http://" + server.address() + "/a.git", "main");
      FutureTask<Workspace> creation = new FutureTask<>(() -> create("w", slow, null, git));
      Thread thread = Thread.ofPlatform().start(creation);
      server.asked.await();
      thread.interrupt();
      assertThatThrownBy(creation::get).hasCauseInstanceOf(CancellationException.class);
      assertThat(ProcessHandle.allProcesses().map(ProcessHandle::info))
          .noneMatch(info -> info.commandLine().orElse("").contains(server.address()));
      server.gate.countDown();
      assertThat(create("w", slow, null, git).steps()).isZero();
    }
  }

  @Test
  void a_clone_ends_when_it_is_cancelled() throws Exception {
    bare();
    try (StaticServer server = new StaticServer(folder, true, null)) {
      Repository slow = new Repository("http://" + server.address() + "/a.git", "main");
      AtomicBoolean cancelled = new AtomicBoolean();
      FutureTask<Workspace> creation =
          new FutureTask<>(() -> create("w", slow, null, git.cancelledBy(cancelled::get)));
      Thread.ofPlatform().start(creation);
      server.asked.await();
      cancelled.set(true);
      assertThatThrownBy(creation::get).hasCauseInstanceOf(CancellationException.class);
    }
  }

  // ---- the mirror

  @Test
  void concurrent_clones_share_one_mirror() throws Exception {
    List<Future<Workspace>> made = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int i = 0; i < 4; i++) {
        String name = "w" + i;
        made.add(threads.submit(() -> create(name, "main")));
      }
    }
    for (Future<Workspace> one : made) {
      assertThat(one.get().changes().isEmpty()).isTrue();
    }
    assertThat(sh(folder.resolve("cache"), "ls -d *.git")).hasLineCount(1);
  }

  /** Holds a mirror's lock until its input ends. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws IOException {
      FileMutex.holding(
          Path.of(arguments[0]),
          () -> {},
          () -> {
            System.out.println("held");
            return System.in.read();
          });
    }
  }

  @Test
  void a_clone_waits_for_another_process_and_the_wait_can_be_cancelled() throws Exception {
    create("w", "main");
    String lock = sh(folder.resolve("cache"), "ls $PWD/*.lock");
    FutureTask<Workspace> second = new FutureTask<>(() -> create("x", "main"));
    FutureTask<Workspace> third = new FutureTask<>(() -> create("y", "main"));
    try (ChildProcess other = ChildProcess.java(Holder.class, lock)) {
      other.awaitLine("held", LIMIT);
      Thread.ofPlatform().start(second);
      Thread impatient = Thread.ofPlatform().start(third);
      impatient.interrupt();
      assertThatThrownBy(third::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(CancellationException.class);
      assertThat(second.isDone()).isFalse();
      other.signal("KILL");
    }
    assertThat(second.get().steps()).isZero();
  }

  @Test
  void leftovers_of_a_killed_git_in_the_mirror_do_not_block_clones() throws Exception {
    String baseline = create("1", "main").baseline();
    Path mirror = Path.of(sh(folder.resolve("cache"), "ls -d $PWD/*.git"));
    String leave =
        "touch -d '1 minute ago' packed-refs.lock HEAD.lock refs/heads/main.lock"
            + " refs/holdfast/kept/%s.lock objects/pack/tmp_pack_x";
    sh(mirror, leave.formatted(baseline));
    assertThat(create("2", source.toString(), "main", baseline).baseline()).isEqualTo(baseline);
    sh(mirror, leave.formatted(baseline));
    String next = commit("more");
    assertThat(create("3", "main").baseline()).isEqualTo(next);
    assertThat(sh(mirror, "find . -name '*.lock' -o -name 'tmp_*'")).isEmpty();
  }

  @Test
  void clearing_stale_locks_waits_while_a_lock_is_still_in_use() throws Exception {
    create("1", "main");
    Path mirror = Path.of(sh(folder.resolve("cache"), "ls -d $PWD/*.git"));
    Path lock = Files.createFile(mirror.resolve("refs/heads/main.lock"));
    AtomicInteger looks = new AtomicInteger();
    StaleGitLocks.clear(
        mirror,
        () -> {
          assertThat(lock).exists();
          if (looks.incrementAndGet() == 2) {
            lock.toFile().delete();
          }
        });
    assertThat(looks).hasValue(2);
  }

  @Test
  void a_malformed_commit_is_not_treated_as_a_damaged_mirror() throws Exception {
    sh(
        source,
        "git cat-file commit HEAD | sed 's/^author .*/author x <x> never/' > c;"
            + " git update-ref refs/heads/main $(git hash-object -t commit -w --literally c); rm c");
    String baseline = create("1", "main").baseline();
    sh(folder, "mv source gone; mkdir source");
    assertThatThrownBy(() -> create("2", "main")).isInstanceOf(GitException.class);
    Mirror mirror =
        new Mirror(new Repository(source.toString(), "main"), folder.resolve("cache"), git);
    assertThat(mirror.wasBroken()).isFalse();
    assertThat(create("3", source.toString(), "main", baseline).baseline()).isEqualTo(baseline);
  }

  @Test
  void a_damaged_mirror_is_recreated() throws Exception {
    String baseline = create("1", "main").baseline();
    List<String> damages =
        List.of(
            "rm -rf *.git/objects",
            "rm *.git/HEAD",
            "chmod u+w *.git/objects/pack/*.pack; for p in *.git/objects/pack/*.pack; do : > $p; done",
            "chmod u+w *.git/objects/pack/*.pack; for p in *.git/objects/pack/*.pack; do"
                + " printf xxxxxxxxxxxx | dd of=$p bs=1 seek=400 conv=notrunc status=none; done",
            "rm -rf *.git; mkdir $(basename *.lock .lock).git",
            "mkdir $(basename *.lock .lock).new; touch $(basename *.lock .lock).new/x; rm -rf *.git");
    for (String damage : damages) {
      sh(folder.resolve("cache"), damage);
      sh(folder, "rm -rf w");
      assertThat(create("w", source.toString(), "main", baseline).baseline())
          .as(damage)
          .isEqualTo(baseline);
    }
  }
}
