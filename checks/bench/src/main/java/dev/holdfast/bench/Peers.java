package dev.holdfast.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Queues in other languages, installed when they are wanted; those that cannot be are left out. */
final class Peers {
  private static final List<String> NODE =
      List.of("graphile-batched", "graphile-worker", "pg-boss");

  /** With a number behind the name: so many runners, or so many that fetch. */
  private static final Pattern OTHERWISE = Pattern.compile("(graphile-batched|pg-boss)-[1-9]");

  private static final String RIVER = "river";

  private final Path sources;
  private final Path installed;
  private final Target server;
  private final List<String> leftOut = new ArrayList<>();

  /**
   * @param sources the folder with one folder a language
   * @param installed where they are installed and built
   */
  Peers(Path sources, Path installed, Target server) {
    this.sources = sources;
    this.installed = installed;
    this.server = server;
  }

  /**
   * @param named what was asked for by name; null for all
   */
  List<Contender> start(@Nullable List<String> named) throws Exception {
    List<Contender> peers = new ArrayList<>();
    List<String> node =
        named == null
            ? NODE
            : named.stream()
                .filter(name -> NODE.contains(name) || OTHERWISE.matcher(name).matches())
                .toList();
    if (!node.isEmpty()) {
      Path folder = copy("node", "package.json", "peer.mjs");
      if (install(folder)) {
        for (String name : node) {
          add(peers, name, List.of(node(folder), "peer.mjs", name), folder);
        }
      } else {
        leftOut.addAll(node);
      }
    }
    if (named == null || named.contains(RIVER)) {
      Path folder = copy("go", "go.mod", "main.go");
      if (run(folder, "go", "mod", "tidy") && run(folder, "go", "build", "-o", "peer", ".")) {
        add(peers, RIVER, List.of(folder.resolve("peer").toString()), folder);
      } else {
        leftOut.add(RIVER);
      }
    }
    return peers;
  }

  /** Restate, whose server is one of its packages; null where it cannot be had. */
  @Nullable Peer restate() throws Exception {
    Path folder = copy(RestateWaits.NAME, "package.json", "peer.mjs");
    if (install(folder)) {
      List<Contender> started = new ArrayList<>();
      add(started, RestateWaits.NAME, List.of(node(folder), "peer.mjs"), folder);
      return started.isEmpty() ? null : (Peer) started.getFirst();
    }
    leftOut.add(RestateWaits.NAME);
    return null;
  }

  private static boolean install(Path folder) throws InterruptedException {
    return run(
        folder, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent");
  }

  /** What could not be installed or started. */
  List<String> leftOut() {
    return leftOut;
  }

  private void add(List<Contender> peers, String name, List<String> command, Path folder)
      throws Exception {
    try {
      Target own = server.fresh("holdfast_bench_" + name.replace('-', '_'));
      peers.add(new Peer(name, command, folder, own));
    } catch (IOException e) {
      System.out.println(name + " is left out: " + e.getMessage());
      leftOut.add(name);
    }
  }

  /** The one that was installed, which is new enough for all of them. */
  private static String node(Path folder) throws IOException {
    try (var found = Files.newDirectoryStream(folder.resolve("node_modules"), "node-linux-*")) {
      for (Path each : found) {
        return each.resolve("bin/node").toString();
      }
    }
    return "node";
  }

  private Path copy(String language, String... files) throws IOException {
    Path folder = Files.createDirectories(installed.resolve(language));
    for (String file : files) {
      Files.copy(
          sources.resolve(language).resolve(file),
          folder.resolve(file),
          StandardCopyOption.REPLACE_EXISTING);
    }
    return folder;
  }

  /** Says why not, if it fails. */
  private static boolean run(Path folder, String... command) throws InterruptedException {
    String line = String.join(" ", command);
    File log = folder.resolve("install.log").toFile();
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log)
              .start();
      if (!process.waitFor(10, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        System.out.println("'" + line + "' does not end");
        return false;
      }
      if (process.exitValue() != 0) {
        System.out.println("'" + line + "' failed: see " + log);
        return false;
      }
      return true;
    } catch (IOException missing) {
      System.out.println("'" + line + "' cannot be run: " + missing.getMessage());
      return false;
    }
  }
}
