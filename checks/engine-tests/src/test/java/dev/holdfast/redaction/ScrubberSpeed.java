package dev.holdfast.redaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Measures how fast logs are scrubbed. Started by hand. */
final class ScrubberSpeed {
  private static final int CHUNK = 8 << 10;
  private static final int SIZE = 32 << 20;
  private static final int ROUNDS = 8;
  private static final List<String> BUILD =
      List.of(
          "[INFO] --- compiler:3.16.0:compile (default-compile) @ holdfast-worker ---",
          "[INFO] Compiling 214 source files with javac [debug release 21] to target/classes",
          "Downloading from central: https://packages.example.org/maven2/org/x/1.0/x-1.0.pom",
          "\tat org.junit.platform.engine.support.hierarchical.NodeTestTask.run(NodeTestTask.java:95)",
          "12:34:56.789 [worker-3] INFO  d.h.worker.Worker - claimed 3 jobs of queue default in 4 ms",
          "> Task :app:compileKotlin UP-TO-DATE",
          "npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.",
          "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.211 s",
          "commit 3f786850e387550fdab836ed7e6dc881de23001b by Jane <jane@example.com>",
          "AuthTest > a user with a wrong password is refused PASSED");

  private ScrubberSpeed() {}

  @SuppressWarnings("SystemOut")
  public static void main(String[] arguments) {
    List<String> known = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      known.add(Planted.of("{32}" + i).text());
    }
    Scrubber scrubber = Scrubber.knowing(known);
    List<String> secrets = Planted.SECRETS.stream().map(Planted::of).map(Planted::text).toList();
    System.out.printf("ordinary   %s%n", measure(scrubber, text(BUILD, BUILD, 0)));
    System.out.printf("1 %% secret %s%n", measure(scrubber, text(BUILD, secrets, 1)));
    System.out.printf("dense      %s%n", measure(scrubber, text(BUILD, secrets, 100)));
    System.out.printf("known      %s%n", measure(scrubber, text(BUILD, known, 100)));
  }

  private static String text(List<String> lines, List<String> secrets, int percent) {
    Random random = new Random(1);
    StringBuilder text = new StringBuilder(SIZE + 1_000);
    while (text.length() < SIZE) {
      List<String> from = random.nextInt(100) < percent ? secrets : lines;
      text.append(from.get(random.nextInt(from.size()))).append('\n');
    }
    return text.toString();
  }

  private static String measure(Scrubber scrubber, String text) {
    long[] out = new long[1];
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      try (ScrubbingStream stream = scrubber.stream(piece -> out[0] += piece.length())) {
        for (int from = 0; from < text.length(); from += CHUNK) {
          stream.write(text.substring(from, Math.min(text.length(), from + CHUNK)));
        }
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      best = Math.max(best, text.length() / seconds / (1 << 20));
    }
    return String.format("%.0f MB/s", best);
  }
}
