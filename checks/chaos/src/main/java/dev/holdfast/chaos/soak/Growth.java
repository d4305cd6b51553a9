package dev.holdfast.chaos.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * How much of something there was over time. The first quarter is left out: caches fill and the
 * compiler is at work.
 */
final class Growth {
  private final long slack;
  private final Map<String, List<Long>> series = new TreeMap<>();

  /**
   * @param slack what may come on top of a tenth
   */
  Growth(long slack) {
    this.slack = slack;
  }

  void add(String name, long value) {
    series.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
  }

  /** Of the second quarter. */
  long before(String name) {
    List<Long> values = Objects.requireNonNull(series.get(name));
    return median(values.subList(values.size() / 4, Math.max(values.size() / 2, 1)));
  }

  /** Of the last quarter. */
  long after(String name) {
    List<Long> values = Objects.requireNonNull(series.get(name));
    return median(values.subList(values.size() * 3 / 4, values.size()));
  }

  /** What has more in the last quarter than in the second. */
  List<String> grown() {
    return series.keySet().stream()
        .filter(name -> after(name) > before(name) * 11 / 10 + slack)
        .map(name -> "%s: %,d, later %,d".formatted(name, before(name), after(name)))
        .toList();
  }

  List<String> names() {
    return List.copyOf(series.keySet());
  }

  int samples() {
    return series.values().stream().mapToInt(List::size).sum();
  }

  private static long median(List<Long> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElse(0L);
  }
}
