package dev.holdfast.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the clock, and what a client and the server have used of the processors. */
final class Meter {
  private static final double TICKS = 100; // USER_HZ is 100 on every Linux

  private final long server;

  /**
   * @param server the postmaster's pid, 0 when it runs elsewhere
   */
  Meter(long server) {
    this.server = server;
  }

  /** What was used up to a moment, or between two. */
  record Reading(double seconds, double client, double server) {
    Reading since(Reading start) {
      return new Reading(seconds - start.seconds, client - start.client, server - start.server);
    }
  }

  Reading read(Contender client) {
    return new Reading(
        System.nanoTime() / 1e9, client.clientSeconds(), server == 0 ? 0 : serverSeconds());
  }

  /** The postmaster, its children, and those of them that are gone. */
  private double serverSeconds() {
    double ticks = 0;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
      for (Path entry : entries) {
        ticks += ticksOf(entry);
      }
    } catch (IOException unreadable) {
      return 0;
    }
    return ticks / TICKS;
  }

  private double ticksOf(Path entry) {
    try {
      String stat = Files.readString(entry.resolve("stat"), StandardCharsets.ISO_8859_1);
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      long pid = Long.parseLong(entry.getFileName().toString());
      if (pid == server) {
        return sum(fields, 11, 15);
      }
      return Long.parseLong(fields[1]) == server ? sum(fields, 11, 13) : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  private static double sum(String[] fields, int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += Long.parseLong(fields[i]);
    }
    return sum;
  }
}
