package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Runs the commands of a document in the root of a checkout. */
final class Session implements AutoCloseable {
  /** Those that a reader leaves running, and opens another terminal. */
  private static final Pattern STAYS =
      Pattern.compile(
          "^(\\w+=('[^']*'|\"[^\"]*\"|\\S*) +)*"
              + "((\\./)?holdfast (dev|demo|server|worker|supervise|logs .*(-f|--follow))( .*)?"
              + "|curl .*-N .*|\\S*worker\\.sh .*)",
          Pattern.DOTALL);

  private static final Pattern GETS_READY =
      Pattern.compile("holdfast (dev|server|worker|supervise)\\b");

  private static final Pattern SERVER = Pattern.compile("holdfast server\\b");
  private static final Pattern DEV = Pattern.compile("holdfast (dev|demo)\\b");

  private final String document;
  private final String mark = UUID.randomUUID().toString();
  private final String port = Integer.toString(NewUser.freePort());
  private final Path folder;
  private final Shell shell;
  private final List<Shell.Background> background = new ArrayList<>();
  private Map<String, String> ids = Map.of();

  Session(String document, Path clone, Path place) throws IOException {
    this.document = document;
    FreshClone.delete(place);
    folder = Files.createDirectories(place.resolve("checkout"));
    // A checkout of its own, since each has a database of its own in it. The launcher resolves
    // links.
    try (Stream<Path> entries = Files.list(clone)) {
      for (Path entry :
          entries.filter(it -> !it.getFileName().toString().startsWith(".hold")).toList()) {
        Files.createSymbolicLink(folder.resolve(entry.getFileName()), entry);
      }
    }
    Path home = Files.createDirectories(place.resolve("home"));
    Path local = Files.createDirectories(home.resolve(".local/bin"));
    Path bin = Files.createDirectories(place.resolve("bin"));
    Files.createSymbolicLink(bin.resolve("holdfast"), clone.resolve("holdfast"));
    // At a terminal curl draws no meter of its progress.
    Files.writeString(home.resolve(".curlrc"), "silent\nshow-error\n");
    Map<String, String> environment = new HashMap<>(System.getenv());
    NewUser.environment(environment);
    NewUser.mark(environment, mark);
    environment.put("HOME", home.toString());
    environment.put("PATH", local + ":" + bin + ":" + environment.get("PATH"));
    environment.put("HOLDFAST_SERVER_PORT", port);
    environment.put("HOLDFAST_SUPERVISOR_NAME", "vm");
    // examples/curl/worker.sh has the usual port, too.
    environment.put("SERVER_URL", "http://127.0.0.1:" + port);
    // As at a terminal, and with the user name that the documents show.
    environment.put("HOLDFAST_JAVA_OPTS", "-Dholdfast.terminal=true -Duser.name=ada");
    shell = new Shell(folder, Files.createDirectories(place.resolve("commands")), environment);
  }

  Path folder() {
    return folder;
  }

  void run(Document.Command command) throws IOException {
    String text = command.text().replace("8420", port);
    for (Map.Entry<String, String> id : ids.entrySet()) {
      text = text.replace(id.getKey(), id.getValue());
    }
    if (STAYS.matcher(text).matches()) {
      stays(command, text);
    } else {
      ends(command, text);
    }
  }

  private void ends(Document.Command command, String text) throws IOException {
    Shell.Ended ended = shell.run(text);
    List<String> actual = Expectation.lines(ended.output());
    boolean error =
        !command.expected().isEmpty() && command.expected().getFirst().startsWith("holdfast: ");
    if (error == (ended.code() == 0)) {
      throw wrong(command, actual, "it ended with exit code " + ended.code());
    }
    if (!command.hidden()) {
      Files.writeString(shell.output(), ended.output());
      ids =
          Expectation.exactly(command.expected())
              .match(actual, ids)
              .orElseThrow(() -> wrong(command, actual, "it printed something else"));
    }
  }

  private void stays(Document.Command command, String text) throws IOException {
    if (DEV.matcher(text).find()) {
      // Only one runs per folder: before another starts, the first gets a Ctrl-C.
      for (Shell.Background each : background) {
        if (isDev(each)) {
          stop(each);
        }
      }
    }
    boolean taken = background.stream().anyMatch(each -> isDev(each) && !each.hasEnded());
    // The reference shows 'server' with the port that it has where no 'dev' runs.
    Shell.Background started =
        shell.start(
            taken && SERVER.matcher(text).find()
                ? "HOLDFAST_SERVER_PORT=" + NewUser.freePort() + " " + text
                : text);
    background.add(started);
    List<String> expected = new ArrayList<>(command.expected());
    boolean getsReady = GETS_READY.matcher(text).find();
    if (getsReady && expected.stream().noneMatch(line -> line.startsWith("ready"))) {
      expected.add("ready…");
    }
    Expectation expectation = Expectation.among(expected);
    try {
      Optional<Map<String, String>> found =
          Awaitility.await()
              .atMost(SOON)
              .until(
                  () -> {
                    boolean over = started.hasEnded();
                    var known = expectation.match(Expectation.lines(started.output()), ids);
                    if (over && known.isEmpty()) {
                      throw wrong(
                          command, Expectation.lines(started.output()), "it has ended early");
                    }
                    return known;
                  },
                  Optional::isPresent);
      ids = found.orElseThrow();
    } catch (ConditionTimeoutException e) {
      throw wrong(command, Expectation.lines(started.output()), "it did not print all of this");
    }
  }

  private static boolean isDev(Shell.Background each) {
    return DEV.matcher(each.command()).find();
  }

  private AssertionError wrong(Document.Command command, List<String> actual, String what) {
    return new AssertionError(
        """
        %s:%d: %s
        $ %s
        ---- expected
        %s
        ---- actual
        %s
        ----"""
            .formatted(
                document,
                command.line(),
                what,
                command.text(),
                String.join("\n", command.expected()),
                String.join("\n", actual)));
  }

  /** Stops what still runs, the last first; all of it must end as it should and leave nothing. */
  void end() throws IOException {
    for (Shell.Background each : background.reversed()) {
      if (each.hasEnded() && !each.isStopped()) {
        throw new AssertionError(
            "%s: '%s' has ended by itself:%n%s".formatted(document, each.command(), each.output()));
      }
      stop(each);
    }
    shell.close();
    List<String> left = NewUser.left(mark);
    if (!left.isEmpty()) {
      throw new AssertionError(document + ": still running at the end: " + left);
    }
  }

  private void stop(Shell.Background each) throws IOException {
    if (each.hasEnded()) {
      return;
    }
    each.terminate();
    int code = each.awaitExit();
    // A program without a handler for the signal ends by it.
    if (code != 0 && !(code == 143 && !each.command().contains("holdfast "))) {
      throw new AssertionError(
          "%s: '%s' ended with exit code %d:%n%s"
              .formatted(document, each.command(), code, each.output()));
    }
  }

  /** Whatever the outcome, no process is left. */
  @Override
  public void close() {
    shell.close();
    NewUser.kill(mark);
  }
}
