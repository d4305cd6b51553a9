package dev.holdfast.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the processes that belong to a program: those in its session, those with one of its two
 * marks, and their descendants. A child that forks twice loses its parent and one that calls setsid
 * leaves the session, but both keep the marks: a variable in the environment, which a child may
 * clear, and a {@link LimitMark}, which it inherits from the kernel.
 */
final class ProcessFamily {
  static final String MARK = "HOLDFAST_MARK";
  private static final Path PROC = Path.of("/proc");
  private static final int TICKS_PER_SECOND = 100;
  private static final int BRIEF = 2 * TICKS_PER_SECOND;
  private static final int LOOKS = 3;
  private static final long UNKNOWN = -1;

  /**
   * @param started in ticks since the machine was started
   */
  private record Seen(
      long pid, long parent, long group, long session, boolean dead, long started) {}

  /**
   * @param variable the value of {@link #MARK}
   * @param limit see {@link LimitMark}
   */
  record Marks(String variable, long limit) {}

  private ProcessFamily() {}

  /**
   * The time by the clock of {@code /proc}, a second early. Processes that were started before a
   * program do not belong to it, and are not looked at: there may be thousands.
   */
  static long now() {
    try {
      String uptime = Files.readString(PROC.resolve("uptime"), StandardCharsets.ISO_8859_1);
      return (Long.parseLong(uptime.substring(0, uptime.indexOf('.'))) - 1) * TICKS_PER_SECOND;
    } catch (IOException | RuntimeException unreadable) {
      return 0;
    }
  }

  /**
   * The living ones.
   *
   * @param since a time before the program was started
   */
  static Set<Long> of(Process leader, Marks marks, long since) {
    return living(leader, marks, since, any -> true);
  }

  /** Those of them that a signal to the leader's group does not reach. */
  static Set<Long> outsideItsGroup(Process leader, Marks marks, long since) {
    return living(leader, marks, since, seen -> seen.group() != leader.pid());
  }

  private static Set<Long> living(
      Process leader, Marks marks, long since, Predicate<Seen> wantedOnes) {
    if (!Files.isReadable(PROC.resolve("self/stat"))) {
      return leader.toHandle().descendants().map(ProcessHandle::pid).collect(Collectors.toSet());
    }
    List<Seen> all = all(lowest(leader.pid(), since));
    byte[] wanted = (MARK + "=" + marks.variable() + "\0").getBytes(StandardCharsets.UTF_8);
    Set<Long> found = new HashSet<>();
    for (Seen seen : all) {
      if (seen.pid() == leader.pid()
          || seen.session() == leader.pid()
          || (seen.started() >= since
              && (carries(seen, wanted) || LimitMark.isOf(marks.limit(), folder(seen))))) {
        found.add(seen.pid());
      }
    }
    boolean grew = true;
    while (grew) {
      grew = false;
      for (Seen seen : all) {
        grew |= found.contains(seen.parent()) && found.add(seen.pid());
      }
    }
    return all.stream()
        .filter(seen -> found.contains(seen.pid()) && !seen.dead() && wantedOnes.test(seen))
        .map(Seen::pid)
        .collect(Collectors.toSet());
  }

  /** No such process is alive for certain: none was found, and none was started meanwhile. */
  static boolean isEmpty(Process leader, Marks marks, long since) {
    for (int look = 1; look <= LOOKS; look++) {
      long before = lastBorn();
      if (before == UNKNOWN || !of(leader, marks, since).isEmpty()) {
        return false;
      }
      if (before == lastBorn()) {
        return true;
      }
    }
    return false;
  }

  /**
   * The lowest process id that one of them can have. Ids are given out in turn, so theirs are above
   * their leader's, unless they have begun again from the lowest since.
   */
  private static long lowest(long leader, long since) {
    return lastBorn() >= leader && now() - since <= BRIEF ? leader : 1;
  }

  // The last word of that line is the id that was given out last.
  private static long lastBorn() {
    try {
      String line = Files.readString(PROC.resolve("loadavg"), StandardCharsets.ISO_8859_1);
      return Long.parseLong(line.substring(line.lastIndexOf(' ') + 1).strip());
    } catch (IOException | RuntimeException unreadable) {
      return UNKNOWN;
    }
  }

  private static List<Seen> all(long lowest) {
    String[] names = PROC.toFile().list();
    if (names == null) {
      throw new IllegalStateException("cannot list " + PROC);
    }
    List<Seen> all = new ArrayList<>();
    for (String name : names) {
      if (Character.isDigit(name.charAt(0)) && Long.parseLong(name) >= lowest) {
        Seen seen = read(name);
        if (seen != null) {
          all.add(seen);
        }
      }
    }
    return all;
  }

  // "pid (name) state parent group session …", where the name may hold anything, brackets too. The
  // start is the 22nd.
  private static @Nullable Seen read(String pid) {
    try {
      String stat =
          Files.readString(PROC.resolve(pid).resolve("stat"), StandardCharsets.ISO_8859_1);
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 21);
      char state = fields[0].charAt(0);
      return new Seen(
          Long.parseLong(pid),
          Long.parseLong(fields[1]),
          Long.parseLong(fields[2]),
          Long.parseLong(fields[3]),
          state == 'Z' || state == 'X',
          Long.parseLong(fields[19]));
    } catch (IOException e) {
      return null;
    }
  }

  private static boolean carries(Seen seen, byte[] wanted) {
    try {
      return contains(Files.readAllBytes(folder(seen).resolve("environ")), wanted);
    } catch (IOException goneOrNotOurs) {
      return false;
    }
  }

  private static Path folder(Seen seen) {
    return PROC.resolve(Long.toString(seen.pid()));
  }

  private static boolean contains(byte[] environment, byte[] wanted) {
    int at = 0;
    while (at + wanted.length <= environment.length) {
      if (Arrays.equals(environment, at, at + wanted.length, wanted, 0, wanted.length)) {
        return true;
      }
      // On to the next variable.
      while (at < environment.length && environment[at] != 0) {
        at++;
      }
      at++;
    }
    return false;
  }
}
