package dev.holdfast.app.admin;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.supervisor.WorkerLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What worker processes of this machine have written. */
@Command(
    name = "logs",
    description = {
      "Show the output of a supervised worker of this machine.",
      "Without a worker, lists the logs that exist."
    })
public final class LogsCommand implements Callable<Integer> {
  private static final long MOMENT_MILLIS = 100;
  private static final int BUFFER = 64 << 10;

  @Mixin final CommonOptions common = new CommonOptions();

  @Parameters(
      arity = "0..1",
      paramLabel = "WORKER",
      description = "worker:{queue}:{n}, as 'holdfast health' shows it")
  @Nullable String component;

  @Option(
      names = {"-n", "--lines"},
      paramLabel = "N",
      defaultValue = "100",
      description = "number of last lines; default: ${DEFAULT-VALUE}")
  int lines;

  @Option(
      names = {"-f", "--follow"},
      description = "continue with new output")
  boolean follow;

  @Override
  public Integer call() throws InterruptedException, IOException {
    if (lines < 0) {
      throw new CommandException(ExitCode.USAGE, "--lines must be zero or more");
    }
    Path folder = common.settings().supervisor().logsFolder();
    if (component == null) {
      list(folder);
      return ExitCode.OK;
    }
    Path file = WorkerLog.file(folder, component);
    if (!Files.exists(file)) {
      throw new CommandException(
          ExitCode.NOT_FOUND,
          "there is no log of %s in %s: %s"
              .formatted(
                  Terminal.oneLine(component),
                  folder.toAbsolutePath().normalize(),
                  known(folder).isEmpty()
                      ? "logs are on the machine of its supervisor, in its folder"
                      : "there are logs of " + String.join(", ", known(folder))));
    }
    long at = tail(file);
    if (follow) {
      Signals signals = Signals.install();
      follow(file, at, signals);
    }
    return ExitCode.OK;
  }

  private static void list(Path folder) throws IOException {
    Table table = new Table("WORKER", "BYTES", "WRITTEN", "FILE");
    for (String name : known(folder)) {
      Path file = WorkerLog.file(folder, name);
      table.row(
          name,
          Long.toString(Files.size(file)),
          Files.getLastModifiedTime(file).toInstant().toString(),
          file.toString());
    }
    Terminal.print(table);
  }

  private static List<String> known(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.matches("worker-.+-\\d+\\.log"))
          .map(LogsCommand::component)
          .sorted()
          .toList();
    }
  }

  private static String component(String file) {
    String name = file.substring("worker-".length(), file.length() - ".log".length());
    int dash = name.lastIndexOf('-');
    return "worker:" + name.substring(0, dash) + ":" + name.substring(dash + 1);
  }

  /** The last lines, those of the file before it included; where the file ended. */
  private long tail(Path file) throws IOException {
    Deque<String> last = new ArrayDeque<>();
    Path before = file.resolveSibling(file.getFileName() + ".1");
    if (Files.exists(before)) {
      keep(before, last);
    }
    long size = Files.size(file);
    keep(file, last);
    last.forEach(Terminal::println);
    return size;
  }

  private void keep(Path file, Deque<String> last) throws IOException {
    try (Stream<String> all = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      all.forEach(
          line -> {
            last.addLast(
                new String(line.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
            if (last.size() > lines) {
              last.removeFirst();
            }
          });
    }
  }

  private static void follow(Path file, long from, Signals signals)
      throws IOException, InterruptedException {
    long at = from;
    byte[] buffer = new byte[BUFFER];
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    while (!signals.await(MOMENT_MILLIS)) {
      long size = Files.exists(file) ? Files.size(file) : 0;
      if (size < at) {
        // The file was full and a new one was started.
        at = 0;
      }
      try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "r")) {
        open.seek(at);
        int read = open.read(buffer);
        while (read > 0) {
          print(buffer, read, rest);
          at += read;
          read = open.read(buffer);
        }
        Terminal.flush();
      } catch (IOException between) {
        // The file is being renamed; the next read finds the new one.
      }
    }
    Terminal.print(rest.toString(StandardCharsets.UTF_8));
  }

  /** Whole lines, so that no character and no escape sequence is cut; what is left waits. */
  private static void print(byte[] bytes, int length, ByteArrayOutputStream rest) {
    int end = length;
    while (end > 0 && bytes[end - 1] != '\n') {
      end--;
    }
    if (end > 0 || rest.size() + length > BUFFER) {
      int lines = end > 0 ? end : length;
      rest.write(bytes, 0, lines);
      Terminal.print(rest.toString(StandardCharsets.UTF_8));
      rest.reset();
      rest.write(bytes, lines, length - lines);
    } else {
      rest.write(bytes, 0, length);
    }
  }
}
