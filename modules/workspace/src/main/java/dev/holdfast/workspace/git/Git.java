package dev.holdfast.workspace.git;

import static java.util.stream.Collectors.joining;

import dev.holdfast.process.Command;
import dev.holdfast.process.LineListener;
import dev.holdfast.process.NoSuchProgramException;
import dev.holdfast.process.ProcessTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs git by argument lists, within bounds, in an environment of its own. Neither the machine's
 * configuration nor a repository can make it run anything else. When the thread is interrupted or
 * the hook says so, git ends with all it started, and a {@link CancellationException} is thrown.
 */
public final class Git {
  /** How long one call may take by default. */
  public static final Duration TIMEOUT = Duration.ofHours(2);

  /** How long a server may say nothing while it sends what we asked for. */
  private static final Duration SILENCE = Duration.ofMinutes(10);

  private static final String WITH_PROGRESS = "--progress";

  // "Receiving objects:  45% (450/1000), 1.2 MiB | 300 KiB/s", and what else is said on the way.
  private static final Pattern ON_THE_WAY =
      Pattern.compile(
          "(?:remote: )?[A-Z][a-z]+ [a-z ]+: +[0-9]+.*|remote: Total .*|Cloning into .*");

  private static final Pattern VERSION = Pattern.compile("git version (\\d+)\\.(\\d+).*");
  private static final int LAST_LINES = 20;
  private static final int MOST_LINES = 1_000;
  // A quoted path: four characters for each of its 4,096 bytes, and room for mode and id.
  private static final int MOST_PER_LINE = 32 << 10;
  private static final long LOOK_MILLIS = 50;

  private static final Map<String, String> SETTINGS =
      Map.ofEntries(
          // Nothing of others runs.
          Map.entry("core.hooksPath", "/dev/null"),
          Map.entry("core.fsmonitor", "false"),
          Map.entry("core.attributesFile", "/dev/null"),
          Map.entry("core.excludesFile", "/dev/null"),
          Map.entry("core.pager", "cat"),
          Map.entry("core.editor", "false"),
          Map.entry("credential.helper", ""),
          Map.entry("protocol.ext.allow", "never"),
          Map.entry("submodule.recurse", "false"),
          Map.entry("fetch.recurseSubmodules", "false"),
          // Nothing runs on when the call has ended.
          Map.entry("gc.auto", "0"),
          Map.entry("gc.autoDetach", "false"),
          Map.entry("maintenance.auto", "false"),
          // Packs only, which can be verified.
          Map.entry("fetch.unpackLimit", "1"),
          // The same bytes on every machine.
          Map.entry("core.autocrlf", "false"),
          Map.entry("core.safecrlf", "false"),
          Map.entry("core.eol", "lf"),
          Map.entry("core.fileMode", "true"),
          Map.entry("core.symlinks", "true"),
          Map.entry("core.quotePath", "true"),
          Map.entry("core.looseCompression", "1"),
          Map.entry("core.untrackedCache", "false"),
          Map.entry("core.splitIndex", "false"),
          Map.entry("init.defaultBranch", "main"),
          Map.entry("advice.detachedHead", "false"),
          // A call to a server that sends nothing fails; one that counts its objects sends little.
          Map.entry("http.lowSpeedLimit", "1"),
          Map.entry("http.lowSpeedTime", "300"));

  private final Path folder;
  private final Map<String, String> allowed;
  private final Duration timeout;
  private final Duration silence;
  private final BooleanSupplier cancelled;
  private final Consumer<String> progress;

  private Git(
      Path folder,
      Map<String, String> allowed,
      Duration timeout,
      Duration silence,
      BooleanSupplier cancelled,
      Consumer<String> progress) {
    this.folder = folder.toAbsolutePath();
    this.allowed = Map.copyOf(allowed);
    this.timeout = timeout;
    this.silence = silence;
    this.cancelled = cancelled;
    this.progress = progress;
  }

  /**
   * The git on the PATH.
   *
   * @param folder where it may leave what it needs for a call
   * @param allowed variables the operator lets through: PATH, SSH_AUTH_SOCK, proxies
   */
  public static Git installed(Path folder, Map<String, String> allowed) throws IOException {
    Git git =
        new Git(
            Files.createDirectories(folder), allowed, TIMEOUT, SILENCE, () -> false, line -> {});
    String said = String.join(" ", git.run(Place.ROOT, "version"));
    Matcher version = VERSION.matcher(said);
    if (!version.matches() || !isEnough(version)) {
      // Older ones do not read their settings from the environment, and so would not be safe.
      throw GitException.unusable("git 2.31 or newer is needed, here is '" + said + "'", null);
    }
    return git;
  }

  private static boolean isEnough(Matcher version) {
    int major = Integer.parseInt(version.group(1));
    return major > 2 || (major == 2 && Integer.parseInt(version.group(2)) >= 31);
  }

  /** The same git, whose calls end when the hook says so. */
  public Git cancelledBy(BooleanSupplier hook) {
    return new Git(folder, allowed, timeout, silence, hook, progress);
  }

  /** The same git, each of whose calls may take so long. */
  public Git within(Duration time) {
    return new Git(folder, allowed, time, silence, cancelled, progress);
  }

  /** The same git, whose servers may be silent for so long. */
  Git silentFor(Duration time) {
    return new Git(folder, allowed, timeout, time, cancelled, progress);
  }

  /** The same git, which reports the progress of a clone or a fetch. */
  public Git telling(Consumer<String> listener) {
    return new Git(folder, allowed, timeout, silence, cancelled, listener);
  }

  /** Where git works: a folder, variables and settings for this place alone. */
  record Place(Path folder, Map<String, String> variables, Map<String, String> settings) {
    /** Where no program has put a repository. */
    static final Place ROOT = new Place(Path.of("/"), Map.of(), Map.of());

    static Place gitDir(Path gitDir) {
      return new Place(gitDir, Map.of("GIT_DIR", gitDir.toString()), Map.of());
    }

    Place with(Map<String, String> moreSettings) {
      Map<String, String> all = new HashMap<>(settings);
      all.putAll(moreSettings);
      return new Place(folder, variables, all);
    }
  }

  /** Looks on while git runs, and ends it by throwing. */
  @FunctionalInterface
  interface Onlooker {
    void look() throws IOException;
  }

  /** What it printed. */
  List<String> run(Place place, String... arguments) throws IOException {
    List<String> lines = Collections.synchronizedList(new ArrayList<>());
    run(
        place,
        line -> {
          if (lines.size() < MOST_LINES) {
            lines.add(line);
          }
        },
        () -> {},
        arguments);
    return lines;
  }

  /** Its exit code, where more than one is an answer. */
  int ask(Place place, Consumer<String> out, String... arguments) throws IOException {
    return start(place, out, () -> {}, new ArrayDeque<>(), arguments);
  }

  /** What it said beside, such as warnings: its last lines. */
  List<String> run(Place place, Consumer<String> out, Onlooker onlooker, String... arguments)
      throws IOException {
    Deque<String> lastLines = new ArrayDeque<>();
    int exit = start(place, out, onlooker, lastLines, arguments);
    if (exit != 0) {
      throw GitException.failed(arguments[0], exit, List.copyOf(lastLines), asksServer(arguments));
    }
    return List.copyOf(lastLines);
  }

  void checkCancelled() {
    // Not cleared: the callers need to see the interrupt, too.
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("interrupted");
    }
    if (cancelled.getAsBoolean()) {
      throw new CancellationException("cancelled");
    }
  }

  private int start(
      Place place,
      Consumer<String> out,
      Onlooker onlooker,
      Deque<String> lastLines,
      String... arguments)
      throws IOException {
    checkCancelled();
    boolean[] cut = new boolean[1];
    AtomicLong heardAt = new AtomicLong(System.nanoTime());
    LineListener taking =
        (line, dropped) -> {
          cut[0] |= dropped > 0;
          out.accept(line);
        };
    ProcessTree tree;
    try {
      tree =
          ProcessTree.start(
              new Command(commandLine(arguments), place.folder(), environment(place, allowed)),
              MOST_PER_LINE,
              taking,
              new LineListener() {
                @Override
                public void line(String line, long dropped) {
                  said(lastLines, line);
                }

                @Override
                public void heard() {
                  heardAt.set(System.nanoTime());
                }
              });
    } catch (NoSuchProgramException missing) {
      throw GitException.unusable("install git: " + missing.getMessage(), missing);
    }
    boolean shows = asksServer(arguments);
    int exit =
        ended(
            tree,
            () -> {
              onlooker.look();
              if (shows && System.nanoTime() - heardAt.get() > silence.toNanos()) {
                throw GitException.silent(arguments[0], silence.toSeconds());
              }
            },
            arguments[0]);
    if (cut[0]) {
      throw GitException.unusable("git " + arguments[0] + " printed a line that is too long", null);
    }
    return exit;
  }

  private static boolean asksServer(String... arguments) {
    return List.of(arguments).contains(WITH_PROGRESS);
  }

  private int ended(ProcessTree tree, Onlooker onlooker, String verb) throws IOException {
    boolean ended = false;
    try {
      awaitEnd(tree, onlooker, verb);
      ended = true;
    } finally {
      if (!ended) {
        tree.kill();
        tree.await();
      }
    }
    return tree.await();
  }

  private void awaitEnd(ProcessTree tree, Onlooker onlooker, String verb) throws IOException {
    long until = System.nanoTime() + timeout.toNanos();
    Optional<ProcessHandle> process = ProcessHandle.of(tree.pid());
    while (tree.isAlive() && process.isPresent()) {
      try {
        process.get().onExit().get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException stillRunning) {
        onlooker.look();
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException impossible) {
        throw new IllegalStateException(impossible);
      }
      checkCancelled();
      if (System.nanoTime() > until) {
        throw GitException.tooSlow(verb, timeout.toSeconds());
      }
    }
    onlooker.look();
  }

  private void said(Deque<String> lastLines, String line) {
    if (ON_THE_WAY.matcher(line).matches()) {
      progress.accept(line.strip());
    } else if (!line.isBlank()) {
      keep(lastLines, line);
    }
  }

  private static void keep(Deque<String> lastLines, String line) {
    if (lastLines.size() == LAST_LINES) {
      lastLines.removeFirst();
    }
    lastLines.addLast(line.strip());
  }

  private static List<String> commandLine(String... arguments) {
    List<String> line = new ArrayList<>();
    line.add("git");
    line.addAll(List.of(arguments));
    return line;
  }

  Path folder() {
    return folder;
  }

  private static Map<String, String> environment(Place place, Map<String, String> allowed) {
    Map<String, String> all = new HashMap<>();
    all.put("PATH", "/usr/local/bin:/usr/bin:/bin");
    all.put("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
    all.putAll(allowed);
    all.computeIfPresent("PATH", (name, path) -> absolute(path));
    // No home: a folder would be one for programs to write to.
    all.put("HOME", "/dev/null");
    all.put("XDG_CONFIG_HOME", "/dev/null");
    all.put("LC_ALL", "C");
    all.put("GIT_CONFIG_NOSYSTEM", "1");
    all.put("GIT_CONFIG_GLOBAL", "/dev/null");
    all.put("GIT_ATTR_NOSYSTEM", "1");
    all.put("GIT_TERMINAL_PROMPT", "0");
    all.put("GIT_ASKPASS", "");
    all.put("SSH_ASKPASS", "");
    all.put("GIT_OPTIONAL_LOCKS", "0");
    all.put("GIT_NO_REPLACE_OBJECTS", "1");
    all.put("GIT_NO_LAZY_FETCH", "1");
    all.put("GIT_ALLOW_PROTOCOL", "https:http:ssh:file");
    // Settings travel in the environment: some are secrets, and arguments are for all to read.
    Map<String, String> settings = new HashMap<>(SETTINGS);
    settings.putAll(place.settings());
    int count = 0;
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      all.put("GIT_CONFIG_KEY_" + count, setting.getKey());
      all.put("GIT_CONFIG_VALUE_" + count, setting.getValue());
      count++;
    }
    all.put("GIT_CONFIG_COUNT", Integer.toString(count));
    all.putAll(place.variables());
    return all;
  }

  /** Git works in folders of programs: what it starts is not looked for there. */
  private static String absolute(String path) {
    return Arrays.stream(path.split(":")).filter(one -> one.startsWith("/")).collect(joining(":"));
  }
}
