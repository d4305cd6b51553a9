package dev.holdfast.process;

import java.io.File;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A small process beside this one that outlives it. When this one ends, however it does, the
 * standard input of the other ends, and it kills every program that carries a mark of this process.
 * So kill -9 of a worker leaves nothing running.
 */
final class OrphanKiller {
  private static final Logger log = System.getLogger(OrphanKiller.class.getName());

  // Its own environment is empty, or it would find itself.
  private static final String SCRIPT =
      """
      while read -r line; do :; done
      round=0
      while [ $round -lt 100 ]; do
        found=$(
          grep -alF "$2=$1." /proc/[1-9]*/environ 2>/dev/null
          [ -z "$3" ] || grep -lE "^Max file locks +[^ ]+ +$3[0-9]{9} " /proc/[1-9]*/limits 2>/dev/null)
        [ -n "$found" ] || exit 0
        for file in $found; do
          pid=${file#/proc/}
          pid=${pid%/*}
          stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
          stat=${stat##*) }
          set -- "$1" "$2" "$3" $stat
          [ "$6" -le 1 ] || kill -s KILL -- "-$6" 2>/dev/null
          kill -s KILL "$pid" 2>/dev/null
        done
        sleep 0.1
        round=$((round + 1))
      done
      """;

  private static final String OURS = UUID.randomUUID().toString();
  private static final AtomicLong NEXT = new AtomicLong();
  private static @Nullable Process process;

  private OrphanKiller() {}

  /** The marks of one more program. The killer runs before the program does. */
  static ProcessFamily.Marks marks() {
    ensure();
    return new ProcessFamily.Marks(OURS + "." + NEXT.incrementAndGet(), LimitMark.next());
  }

  private static synchronized void ensure() {
    if (process != null && process.isAlive()) {
      return;
    }
    ProcessBuilder builder =
        new ProcessBuilder(
                ProcessTree.inOwnSession(
                    List.of(
                        "/bin/sh",
                        "-c",
                        SCRIPT,
                        "sh",
                        OURS,
                        ProcessFamily.MARK,
                        LimitMark.prefix())))
            .directory(new File("/"))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().clear();
    builder.environment().put("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    try {
      process = builder.start();
    } catch (IOException none) {
      log.log(
          Level.WARNING,
          "the process that kills orphans could not be started; if this process is killed, its programs"
              + " go on",
          none);
    }
  }
}
