package dev.holdfast.server.live;

import dev.holdfast.server.http.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The topics of a subscription. In a pattern {@code *} stands for anything. */
public record Topics(List<String> patterns) {
  static final String QUEUES = "queue:status";
  static final String JOBS = "queue:jobs";
  static final String LOGS = "queue:logs";
  static final String WORKER_LOGS = "worker:logs";
  static final String HEALTH = "system:health";

  public static final Topics ALL = new Topics(List.of("*"));

  private static final int MOST = 50;
  private static final int LONGEST = 200;

  public Topics {
    patterns = List.copyOf(patterns);
  }

  static String queue(String queue) {
    return "queue:" + queue + ":status";
  }

  /** Workers choose their names, and a line break would end the line of the event. */
  static String worker(String component) {
    return component.replaceAll("\\p{Cntrl}", "?") + ":status";
  }

  /** From a list separated by commas. */
  public static Topics parse(String list) {
    List<String> patterns = new ArrayList<>();
    for (String pattern : list.split(",", -1)) {
      patterns.add(checked(pattern.strip()));
    }
    if (patterns.size() > MOST) {
      throw new Problem(422, "invalid_value", "more than " + MOST + " topics: use wildcards");
    }
    return new Topics(patterns);
  }

  /** Refuses topics that do not exist: a misspelt one must not look like one without events. */
  private static String checked(String pattern) {
    boolean exists =
        pattern.length() <= LONGEST
            && (pattern.startsWith("*")
                || pattern.startsWith("queue:")
                || pattern.startsWith("worker:")
                || matches(pattern, HEALTH));
    if (!exists) {
      throw new Problem(
          422,
          "unknown_topic",
          "topics are queue:status, queue:{queue}:status, queue:jobs, queue:logs,"
              + " worker:{queue}:{n}:status, worker:logs and system:health, with * for anything");
    }
    return pattern;
  }

  boolean include(String topic) {
    return patterns.stream().anyMatch(pattern -> matches(pattern, topic));
  }

  /** Matches each piece at the first place it fits, which is linear for every pattern. */
  static boolean matches(String pattern, String topic) {
    List<String> pieces = Arrays.asList(pattern.split("\\*", -1));
    String first = pieces.getFirst();
    if (pieces.size() == 1) {
      return topic.equals(first);
    }
    String last = pieces.getLast();
    if (!topic.startsWith(first)
        || !topic.endsWith(last)
        || topic.length() < first.length() + last.length()) {
      return false;
    }
    String rest = topic.substring(first.length(), topic.length() - last.length());
    int at = 0;
    for (String piece : pieces.subList(1, pieces.size() - 1)) {
      int found = rest.indexOf(piece, at);
      if (found < 0) {
        return false;
      }
      at = found + piece.length();
    }
    return true;
  }
}
