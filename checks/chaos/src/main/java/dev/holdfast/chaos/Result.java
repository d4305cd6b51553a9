package dev.holdfast.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.holdfast.chaos.check.Finding;
import dev.holdfast.chaos.check.Refused;
import dev.holdfast.chaos.cluster.Failover;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What a run came to.
 *
 * @param jobs that clients were promised
 * @param attempts that handlers began
 * @param refused what attempts wrote that no longer held their jobs
 * @param faults how often each happened
 * @param requeued milliseconds from the kill of a worker until its jobs were back in their queues
 * @param startedAgain and until they began again
 * @param firstStart milliseconds from the end of an outage to the first start of a job
 * @param firstStartAfter the same, by fault
 * @param failovers of a cluster, in order
 */
public record Result(
    long seed,
    long jobs,
    long attempts,
    Refused refused,
    Map<String, Integer> faults,
    Percentiles requeued,
    Percentiles startedAgain,
    Percentiles firstStart,
    Map<String, Percentiles> firstStartAfter,
    List<Failover> failovers,
    List<Finding> findings) {
  private static final Set<String> PAUSES = Set.of("freeze-worker", "freeze-remote");
  private static final Set<String> CRASHES =
      Set.of("kill-postgres", "kill-backend", "full-disk-wal");

  /** Of milliseconds. */
  public record Percentiles(int samples, long p50, long p99, long most) {
    static Percentiles of(List<Duration> sorted) {
      return sorted.isEmpty()
          ? new Percentiles(0, 0, 0, 0)
          : new Percentiles(
              sorted.size(), at(sorted, 0.5), at(sorted, 0.99), sorted.getLast().toMillis());
    }

    private static long at(List<Duration> sorted, double share) {
      return sorted.get((int) Math.min(sorted.size() - 1, sorted.size() * share)).toMillis();
    }
  }

  static Result of(
      Options options,
      long jobs,
      long attempts,
      Refused refused,
      Map<String, Integer> faults,
      List<Duration> requeued,
      List<Duration> startedAgain,
      Map<String, List<Duration>> firstStarts,
      List<Failover> failovers,
      List<Finding> findings) {
    Map<String, Percentiles> byFault = new TreeMap<>();
    firstStarts.forEach((fault, times) -> byFault.put(fault, Percentiles.of(times)));
    return new Result(
        options.seed(),
        jobs,
        attempts,
        refused,
        new TreeMap<>(faults),
        Percentiles.of(requeued),
        Percentiles.of(startedAgain),
        Percentiles.of(firstStarts.values().stream().flatMap(List::stream).sorted().toList()),
        byFault,
        List.copyOf(failovers),
        List.copyOf(findings));
  }

  public boolean succeeded() {
    return findings.stream().allMatch(Finding::holds);
  }

  void print(Consumer<String> lines) {
    lines.accept("");
    lines.accept(
        "%,d jobs, %,d attempts; %,d stale writes refused, and %,d late results"
            .formatted(jobs, attempts, refused.writes(), refused.results()));
    lines.accept(
        "%,d kill -9, %,d pauses longer than the lease, %,d crashes of PostgreSQL"
            .formatted(
                happened(name -> name.startsWith("kill-")),
                happened(PAUSES::contains),
                happened(CRASHES::contains)));
    lines.accept("back in the queue after a kill: " + text(requeued));
    lines.accept("started again after a kill: " + text(startedAgain));
    lines.accept("first job after an outage: " + text(firstStart));
    firstStartAfter.forEach((fault, times) -> lines.accept("  " + fault + ": " + text(times)));
    lines.accept("");
    faults.forEach((name, count) -> lines.accept("%6d  %s".formatted(count, name)));
    List<String> missing = missing();
    if (!missing.isEmpty()) {
      lines.accept("did not happen, and need a longer run: " + String.join(", ", missing));
    }
    lines.accept("");
    failovers.forEach(failover -> lines.accept(failover.toString()));
    for (Finding finding : findings) {
      lines.accept(
          "%-6s %s (%,d looked at)"
              .formatted(finding.holds() ? "holds" : "BROKEN", finding.rule(), finding.looked()));
      finding.violations().forEach(each -> lines.accept("         " + each));
    }
    lines.accept("");
    lines.accept(succeeded() ? "all rules hold" : "rules are broken; repeat with --seed " + seed);
  }

  List<String> missing() {
    return faults.entrySet().stream()
        .filter(fault -> fault.getValue() == 0)
        .map(Map.Entry::getKey)
        .toList();
  }

  private int happened(Predicate<String> which) {
    return faults.entrySet().stream()
        .filter(fault -> which.test(fault.getKey()))
        .mapToInt(Map.Entry::getValue)
        .sum();
  }

  private static String text(Percentiles times) {
    return times.samples() == 0
        ? "no sample"
        : "p50 %,d ms, p99 %,d ms, at most %,d ms of %,d"
            .formatted(times.p50(), times.p99(), times.most(), times.samples());
  }

  void write(Path file) throws IOException {
    new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), this);
  }
}
