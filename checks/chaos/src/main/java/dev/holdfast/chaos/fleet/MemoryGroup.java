package dev.holdfast.chaos.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A control group of Linux that limits the memory of the processes in it. When they take more, the
 * kernel kills one of them.
 */
public final class MemoryGroup implements AutoCloseable {
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Pattern KILLS = Pattern.compile("(?m)^oom_kill (\\d+)$");

  /** The names of the files in a group, which differ between the two versions of control groups. */
  private enum Version {
    ONE("memory.limit_in_bytes", "-1", "memory.oom_control", "memory.usage_in_bytes", "memory"),
    TWO("memory.max", "max", "memory.events", "memory.current", "");

    private final String limit;
    private final String unlimited;
    private final String events;
    private final String usage;
    private final Path root;

    Version(String limit, String unlimited, String events, String usage, String root) {
      this.limit = limit;
      this.unlimited = unlimited;
      this.events = events;
      this.usage = usage;
      this.root = Path.of("/sys/fs/cgroup", root);
    }
  }

  private final Version version;
  private final Path folder;

  private MemoryGroup(Version version, Path folder) {
    this.version = version;
    this.folder = folder;
  }

  /** Null where this process may not make one. */
  public static @Nullable MemoryGroup create() {
    for (Version version : Version.values()) {
      Path folder = version.root.resolve("chaos-" + ProcessHandle.current().pid());
      try {
        Files.createDirectory(folder);
      } catch (IOException notHere) {
        continue;
      }
      MemoryGroup group = new MemoryGroup(version, folder);
      try {
        group.write(version.limit, version.unlimited);
        return group;
      } catch (IOException notLimited) {
        group.close();
      }
    }
    return null;
  }

  public static boolean isPossible() {
    try (MemoryGroup group = create()) {
      return group != null;
    }
  }

  /** Without a process in it, it is deleted by {@code rmdir}. */
  public Path folder() {
    return folder;
  }

  /** What a process has taken already does not count here. */
  public void add(long pid) throws IOException {
    write("cgroup.procs", Long.toString(pid));
  }

  /** What its processes may take in addition to what they have taken in it. */
  public void limit(long bytes) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        long usage = Long.parseLong(Files.readString(folder.resolve(version.usage)).trim());
        write(version.limit, Long.toString(usage + bytes));
        return;
      } catch (IOException grownMeanwhile) {
        if (tries == 10) {
          throw grownMeanwhile;
        }
      }
    }
  }

  /** How many processes the kernel has killed. */
  public int kills() throws IOException {
    Matcher matcher = KILLS.matcher(Files.readString(folder.resolve(version.events)));
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
  }

  /** Those in it live on without a limit, in the group at the top. */
  public void empty() throws IOException {
    write(version.limit, version.unlimited);
    // A process may have children meanwhile, and takes a moment to end.
    for (int i = 0; i < 100 && !processes().isEmpty(); i++) {
      for (String pid : processes()) {
        try {
          Files.writeString(version.root.resolve("cgroup.procs"), pid);
        } catch (IOException ended) {
          LockSupport.parkNanos(PAUSE.toNanos());
        }
      }
    }
  }

  private List<String> processes() throws IOException {
    return Files.readAllLines(folder.resolve("cgroup.procs"));
  }

  private void write(String file, String text) throws IOException {
    Files.writeString(folder.resolve(file), text);
  }

  @Override
  public void close() {
    try {
      empty();
    } catch (IOException left) {
      // Then it cannot be deleted either.
    }
    try {
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
