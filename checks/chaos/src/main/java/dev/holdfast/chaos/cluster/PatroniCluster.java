package dev.holdfast.chaos.cluster;

import dev.holdfast.chaos.fleet.PostgresServer;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Soon;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Two PostgreSQL under Patroni and etcd, replicating synchronously and strictly. */
public final class PatroniCluster implements PostgresServer {
  /** Crash recovery, a rewind and a base backup on a busy machine. */
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private final Path folder;
  private final ChildProcess etcd;
  private final List<PatroniNode> nodes;
  private final String password = UUID.randomUUID().toString();

  private PatroniCluster(Path folder, Programs programs) throws IOException {
    // PostgreSQL's folders may be opened by nobody else.
    this.folder =
        Files.createDirectory(
            folder.resolve("cluster"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    programs.give(this.folder);
    int port = Programs.freePort();
    etcd = programs.start(this.folder, etcd(port, Programs.freePort()));
    nodes =
        List.of(
            new PatroniNode("one", this.folder, programs, port),
            new PatroniNode("two", this.folder, programs, port));
  }

  private List<String> etcd(int port, int peerPort) {
    String peer = "http://127.0.0.1:" + peerPort;
    String client = "http://127.0.0.1:" + port;
    return List.of(
        "etcd",
        "--name=etcd",
        "--data-dir=" + folder.resolve("etcd"),
        "--listen-client-urls=" + client,
        "--advertise-client-urls=" + client,
        "--listen-peer-urls=" + peer,
        "--initial-advertise-peer-urls=" + peer,
        "--initial-cluster=etcd=" + peer);
  }

  /**
   * Returns when a primary has a synchronous standby.
   *
   * @param begun is given the cluster as soon as there is something to close
   */
  public static PatroniCluster start(Path folder, Consumer<PatroniCluster> begun)
      throws IOException, InterruptedException {
    PatroniCluster cluster = new PatroniCluster(folder, Programs.found());
    begun.accept(cluster);
    try {
      for (PatroniNode node : cluster.nodes) {
        node.writeConfiguration(cluster.password);
        node.start();
      }
      cluster.awaitHealthy();
      return cluster;
    } catch (IOException | RuntimeException e) {
      cluster.nodes.forEach(node -> node.output().forEach(System.err::println));
      cluster.close();
      throw e;
    }
  }

  /** Where Patroni, etcd and PostgreSQL 15 are installed. */
  public static boolean isInstalled() {
    return Programs.installed();
  }

  Optional<PatroniNode> primary() {
    return nodes.stream().filter(node -> node.is("primary")).findFirst();
  }

  PatroniNode other(PatroniNode node) {
    return nodes.get(nodes.getFirst() == node ? 1 : 0);
  }

  /** Waits for a primary whose standby is synchronous: only then does it accept writes. */
  void awaitHealthy() throws InterruptedException {
    await("a primary with a synchronous standby", this::isHealthy);
  }

  private boolean isHealthy() {
    return primary().map(primary -> other(primary).is("sync")).orElse(false);
  }

  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("no " + what + " after " + LIMIT.toSeconds() + " s");
      }
      Thread.sleep(50);
    }
  }

  /** Both hosts, whichever of them is the primary. */
  @Override
  public String url() {
    return "jdbc:postgresql://"
        + nodes.stream().map(PatroniNode::address).collect(Collectors.joining(","))
        + "/postgres?targetServerType=primary&connectTimeout=2&loginTimeout=10&socketTimeout=10"
        + "&hostRecheckSeconds=0";
  }

  @Override
  public String directUrl() {
    return url();
  }

  @Override
  public String user() {
    return "holdfast";
  }

  @Override
  public String password() {
    return password;
  }

  public void printOutput() {
    for (PatroniNode node : nodes) {
      System.out.println("---- output of Patroni " + node.name());
      List<String> lines = node.output();
      lines.subList(Math.max(0, lines.size() - 60), lines.size()).forEach(System.out::println);
    }
  }

  @Override
  public void close() {
    // The standby first: a primary waits for it when it stops.
    primary().map(this::other).ifPresent(PatroniNode::close);
    nodes.forEach(PatroniNode::close);
    Programs.end(etcd, Soon.SOON);
  }
}
