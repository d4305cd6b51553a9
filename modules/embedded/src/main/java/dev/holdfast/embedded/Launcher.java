package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * As whom the server's programs run. PostgreSQL refuses root, so root starts it in a user namespace
 * where it is nobody, or else under the account that owns the data.
 */
final class Launcher {
  private record Account(int uid, int gid) {}

  private static final int ROOT = 0;

  private final List<String> prefix;
  private final Optional<Account> account;

  private Launcher(List<String> prefix, Optional<Account> account) {
    this.prefix = prefix;
    this.account = account;
  }

  static Launcher probe(Folder folder, Path bin) throws IOException {
    Path data = folder.data();
    if (!isRoot()) {
      return new Launcher(List.of(), Optional.empty());
    }
    if (Files.exists(data) && uid(data) != ROOT) {
      return as(new Account(uid(data), (int) Files.getAttribute(data, "unix:gid")), folder, bin);
    }
    if (Command.succeeds(List.of("unshare", "--user", "true"))) {
      return new Launcher(List.of("unshare", "--user"), Optional.empty());
    }
    return withoutNamespaces(folder, bin);
  }

  static Launcher withoutNamespaces(Folder folder, Path bin) throws IOException {
    return as(unprivileged(), folder, bin);
  }

  private static Launcher as(Account account, Folder folder, Path bin) {
    List<String> prefix =
        List.of(
            "setpriv", "--reuid=" + account.uid(), "--regid=" + account.gid(), "--clear-groups");
    Launcher launcher = new Launcher(prefix, Optional.of(account));
    if (!Command.succeeds(launcher.command(Path.of("true")))) {
      throw new EmbeddedPostgresException(
          "PostgreSQL does not run as root, and neither unshare nor setpriv (util-linux) works here:"
              + " start as an ordinary user");
    }
    for (Path needed : List.of(folder.root(), bin)) {
      if (!Command.succeeds(launcher.command(Path.of("test"), "-x", needed.toString()))) {
        throw new EmbeddedPostgresException(
            "PostgreSQL does not run as root, and user %d may not enter %s: open the folders above it, choose another folder, or start as an ordinary user"
                .formatted(account.uid(), needed));
      }
    }
    return launcher;
  }

  private static Account unprivileged() throws IOException {
    List<String> accounts = Files.readAllLines(Path.of("/etc/passwd"));
    for (String name : List.of("postgres", "nobody")) {
      for (String line : accounts) {
        String[] fields = line.split(":", -1);
        if (fields.length > 3 && fields[0].equals(name)) {
          return new Account(Integer.parseInt(fields[2]), Integer.parseInt(fields[3]));
        }
      }
    }
    throw new EmbeddedPostgresException(
        "PostgreSQL does not run as root, and there is no account postgres or nobody:"
            + " start as an ordinary user");
  }

  private static boolean isRoot() throws IOException {
    Path self = Path.of("/proc/self");
    return Files.exists(self) ? uid(self) == ROOT : "root".equals(System.getProperty("user.name"));
  }

  private static int uid(Path path) throws IOException {
    return (int) Files.getAttribute(path, "unix:uid");
  }

  List<String> command(Path program, String... arguments) {
    List<String> command = new ArrayList<>(prefix);
    command.add(program.toString());
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * The server in a session of its own: Ctrl-C in a terminal reaches every process of the session,
   * and the server has to outlive the work that is being wound up.
   */
  List<String> server(Path program, String... arguments) {
    List<String> command = command(program, arguments);
    if (hasSetsid()) {
      command.add(0, "setsid");
    }
    return command;
  }

  private static boolean hasSetsid() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "setsid")));
  }

  /** Hands a file or tree to the account the server runs under. */
  void give(Path tree) throws IOException {
    if (account.isEmpty()) {
      return;
    }
    List<Path> entries;
    try (Stream<Path> walk = Files.walk(tree)) {
      entries = walk.toList();
    }
    for (Path entry : entries) {
      Files.setAttribute(entry, "unix:uid", account.get().uid(), LinkOption.NOFOLLOW_LINKS);
      Files.setAttribute(entry, "unix:gid", account.get().gid(), LinkOption.NOFOLLOW_LINKS);
    }
  }
}
