package dev.holdfast.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Marks a program and all processes it starts, by a resource limit: RLIMIT_LOCKS, the number of
 * file locks, which every child inherits and which Linux has not enforced since 2.4.25. A process
 * keeps it after setsid, a second fork and with an empty environment. It can lower the limit on
 * purpose, and cannot raise it without a privilege.
 *
 * <p>Of the number, the first ten digits are the same for all programs of this process, and the
 * other nine differ from program to program.
 */
final class LimitMark {
  private static final Pattern LINE = Pattern.compile("(?m)^Max file locks +\\S+ +(\\S+) .*$");
  private static final long PROGRAMS = 1_000_000_000;
  private static final long LOWEST = 1_000_000_000;
  private static final long HIGHEST = Long.MAX_VALUE / 2 / PROGRAMS;
  private static final long FEWEST = 1_000_000;

  private static final @Nullable Path PRLIMIT =
      Stream.of("/usr/bin/prlimit", "/bin/prlimit")
          .map(Path::of)
          .filter(Files::isExecutable)
          .findFirst()
          .orElse(null);

  private static final long OURS = ours();
  private static final AtomicLong NEXT = new AtomicLong();

  private LimitMark() {}

  /** The first ten digits; empty on systems without this limit. */
  static String prefix() {
    return OURS == 0 ? "" : Long.toString(OURS);
  }

  /** The limit for a program that is about to start; 0 on systems without it. */
  static long next() {
    return OURS == 0 ? 0 : OURS * PROGRAMS + NEXT.incrementAndGet() % PROGRAMS;
  }

  /** The command that starts the program under this limit, by prlimit, which execs it. */
  static List<String> marked(long mark, List<String> arguments) {
    return mark == 0 || PRLIMIT == null
        ? arguments
        : Stream.concat(Stream.of(PRLIMIT.toString(), "--locks=" + mark, "--"), arguments.stream())
            .toList();
  }

  static boolean isOf(long mark, Path process) {
    try {
      return mark != 0 && Long.toString(mark).equals(limitOf(process));
    } catch (IOException goneOrNotOurs) {
      return false;
    }
  }

  private static @Nullable String limitOf(Path process) throws IOException {
    Matcher line =
        LINE.matcher(Files.readString(process.resolve("limits"), StandardCharsets.ISO_8859_1));
    return line.find() ? line.group(1) : null;
  }

  private static long ours() {
    try {
      String limit = limitOf(Path.of("/proc/self"));
      if (PRLIMIT == null || limit == null) {
        return 0;
      }
      // Lower than what we have: this process may itself be a program that was marked so.
      long below =
          limit.equals("unlimited") ? HIGHEST : Math.min(HIGHEST, Long.parseLong(limit) / PROGRAMS);
      if (below - LOWEST < FEWEST) {
        return 0;
      }
      long chosen = ThreadLocalRandom.current().nextLong(LOWEST, below);
      return works(chosen * PROGRAMS) ? chosen : 0;
    } catch (IOException | NumberFormatException unknown) {
      return 0;
    }
  }

  private static boolean works(long mark) throws IOException {
    Process trial =
        new ProcessBuilder(marked(mark, List.of("/bin/sh", "-c", ":")))
            .redirectInput(ProcessTree.NOTHING)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    return ProcessTree.uninterruptibly(trial::waitFor) == 0;
  }
}
