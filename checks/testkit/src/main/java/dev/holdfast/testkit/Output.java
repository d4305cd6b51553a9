package dev.holdfast.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The lines a process prints, kept as they come. */
final class Output {
  static final int LIMIT = 10_000;
  private static final int TAIL = 50;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<String> lines = new ArrayDeque<>();
  private long dropped;
  private boolean ended;

  private Output() {}

  static Output of(Process process) {
    Output output = new Output();
    // Not a virtual one: to read a pipe blocks its carrier, and there may be no other for a while.
    Thread.ofPlatform()
        .daemon()
        .name("output of " + process.pid())
        .start(() -> output.read(process));
    return output;
  }

  private void read(Process process) {
    try (BufferedReader reader = process.inputReader()) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        add(line);
      }
    } catch (IOException e) {
      add("(output lost: " + e.getMessage() + ")");
    } finally {
      end();
    }
  }

  private void end() {
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void add(String line) {
    lock.lock();
    try {
      if (lines.size() == LIMIT) {
        lines.removeFirst();
        dropped++;
      }
      lines.addLast(line);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  List<String> lines() {
    lock.lock();
    try {
      return List.copyOf(lines);
    } finally {
      lock.unlock();
    }
  }

  String tail() {
    List<String> all = lines();
    return String.join("\n", all.subList(Math.max(0, all.size() - TAIL), all.size()));
  }

  MatchResult await(Pattern pattern, Duration limit) {
    long left = limit.toNanos();
    long seen = 0;
    lock.lock();
    try {
      while (true) {
        @Nullable MatchResult match = find(pattern, seen);
        if (match != null) {
          return match;
        }
        seen = dropped + lines.size();
        if (ended || left <= 0) {
          throw new AssertionError(
              "no line with \"%s\" %s; its last lines:%n%s"
                  .formatted(pattern, ended ? "until its end" : "within " + limit, tail()));
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } finally {
      lock.unlock();
    }
  }

  private @Nullable MatchResult find(Pattern pattern, long seen) {
    long number = dropped;
    for (String line : lines) {
      if (number++ >= seen) {
        Matcher matcher = pattern.matcher(line);
        if (matcher.find()) {
          return matcher.toMatchResult();
        }
      }
    }
    return null;
  }

  /** A grandchild may hold the stream open for longer than the process lives. */
  void awaitEnd(Duration limit) throws InterruptedException {
    long left = Math.min(limit.toNanos(), TimeUnit.SECONDS.toNanos(5));
    lock.lock();
    try {
      while (!ended && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
