package dev.holdfast.workspace.git;

import dev.holdfast.worker.artifact.FileTrees;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A repository's branches and tags in a folder of ours, shared by all workspaces. Nothing is ever
 * thrown away, so that a commit which was a start once can be one again, without the network.
 */
final class Mirror {
  private static final Logger log = LoggerFactory.getLogger(Mirror.class);
  private static final String ASKED = "refs/holdfast/asked";

  private final Repository repository;
  private final Git git;
  private final Path cache;
  private final String name;
  private final Path gitDir;

  /**
   * By address, not by who asks: a start is looked up at the server, which knows who may see it.
   */
  Mirror(Repository repository, Path cache, Git git) throws IOException {
    this.repository = repository;
    this.git = git;
    this.cache = Files.createDirectories(cache.toAbsolutePath());
    this.name = Sha256.of(repository.address()).substring(0, 32);
    this.gitDir = this.cache.resolve(name + ".git");
  }

  /** Makes both clones, of which the program gets one, and returns the commit to begin with. */
  String cloneTo(Path work, Path shadow, @Nullable String recorded) throws IOException {
    return alone(
        () -> {
          String commit = commit(recorded);
          git.run(place(), "update-ref", "refs/holdfast/kept/" + commit, commit);
          cloneTo(work, "--no-checkout");
          cloneTo(shadow, "--bare");
          return commit;
        });
  }

  private void cloneTo(Path target, String... options) throws IOException {
    // Copies: whatever a program does to objects that it can reach, others' are not the same files.
    List<String> arguments =
        new ArrayList<>(List.of("clone", "--quiet", "--local", "--no-hardlinks", "--template="));
    arguments.addAll(List.of(options));
    arguments.addAll(List.of("--", gitDir.toString(), target.toString()));
    git.run(Git.Place.ROOT, arguments.toArray(String[]::new));
  }

  /** Whether it was damaged; then it is deleted, and the next use makes a new one. */
  boolean wasBroken() throws IOException {
    return alone(
        () -> {
          if (!Files.exists(gitDir) || isSound()) {
            return false;
          }
          log.warn("the mirror of {} is damaged and is cloned again", repository.address());
          FileTrees.delete(gitDir);
          return true;
        });
  }

  /** All is there and has its hash. Old objects that today's git would not make are no damage. */
  private boolean isSound() throws IOException {
    if (!answersYes("fsck", "--connectivity-only", "--no-dangling", "--no-progress")) {
      return false;
    }
    List<String> packs = packs();
    return packs.isEmpty()
        || answersYes(
            Stream.concat(Stream.of("verify-pack", "--"), packs.stream()).toArray(String[]::new));
  }

  private boolean answersYes(String... question) throws IOException {
    return git.ask(place(), line -> {}, question) == 0;
  }

  private List<String> packs() throws IOException {
    List<String> packs = new ArrayList<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(gitDir.resolve("objects/pack"), "*.idx")) {
      files.forEach(file -> packs.add(file.toString()));
    }
    return packs;
  }

  private <T> T alone(FileMutex.Work<T> work) throws IOException {
    return FileMutex.holding(
        cache.resolve(name + ".lock"),
        git::checkCancelled,
        () -> {
          StaleGitLocks.clear(gitDir, git::checkCancelled);
          OwnGitDir.renew(gitDir);
          return work.done();
        });
  }

  private String commit(@Nullable String recorded) throws IOException {
    if (recorded != null && Files.exists(gitDir)) {
      Optional<String> known = resolved(recorded);
      if (known.isPresent()) {
        return known.get();
      }
    }
    boolean isNew = !Files.exists(gitDir);
    if (isNew) {
      make();
    }
    String wanted = recorded == null ? repository.ref() : recorded;
    boolean isFull = wanted.equals("HEAD") || wanted.startsWith("refs/");
    if (isFull) {
      fetch("+" + wanted + ":" + ASKED);
      return resolved(ASKED).orElseThrow(() -> missing(wanted));
    }
    if (!isNew) {
      fetch();
    }
    if (Repository.isCommitId(wanted)) {
      if (resolved(wanted).isEmpty()) {
        // Not on any branch. Some servers give it to those who know its name.
        fetch("+" + wanted + ":" + ASKED);
      }
      return resolved(wanted).orElseThrow(() -> missing(wanted));
    }
    Optional<String> branch = resolved("refs/heads/" + wanted);
    return branch.isPresent()
        ? branch.get()
        : resolved("refs/tags/" + wanted).orElseThrow(() -> missing(wanted));
  }

  private GitException missing(String wanted) {
    return GitException.repository(
        "%s has no branch, tag or commit '%s'; a commit id must be whole"
            .formatted(repository.address(), wanted));
  }

  private Optional<String> resolved(String name) throws IOException {
    List<String> said = new ArrayList<>();
    int exit = git.ask(place(), said::add, "rev-parse", "--verify", "--quiet", name + "^{commit}");
    return exit == 0 ? said.stream().findFirst() : Optional.empty();
  }

  private void make() throws IOException {
    Path fresh = cache.resolve(name + ".new");
    FileTrees.delete(fresh);
    git.run(
        remote(Git.Place.ROOT),
        "clone",
        "--progress",
        "--bare",
        "--no-local",
        "--template=",
        "--",
        repository.address(),
        fresh.toString());
    OwnGitDir.renew(fresh);
    Files.move(fresh, gitDir, StandardCopyOption.ATOMIC_MOVE);
  }

  private void fetch(String... alsoThis) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "fetch",
                "--progress",
                "--force",
                "--prune",
                "--no-tags",
                "--no-write-fetch-head",
                "--",
                repository.address(),
                "+refs/heads/*:refs/heads/*",
                "+refs/tags/*:refs/tags/*"));
    arguments.addAll(List.of(alsoThis));
    git.run(remote(place()), arguments.toArray(String[]::new));
  }

  private Git.Place place() {
    return Git.Place.gitDir(gitDir);
  }

  private Git.Place remote(Git.Place place) {
    return repository
        .authorization()
        .map(header -> place.with(Map.of("http." + repository.server() + ".extraHeader", header)))
        .orElse(place);
  }
}
