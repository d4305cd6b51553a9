package dev.holdfast.app.cli;

import dev.holdfast.contract.operate.JobSearch;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that choose jobs. */
public final class JobSelection {
  @Option(
      names = {"-s", "--state"},
      split = ",",
      paramLabel = "STATE",
      description = "only in these states: ${COMPLETION-CANDIDATES}")
  @Nullable List<JobState> states;

  @Option(
      names = {"-q", "--queue"},
      paramLabel = "QUEUE",
      description = "only of this queue")
  @Nullable String queue;

  @Option(
      names = {"-k", "--kind"},
      paramLabel = "KIND",
      description = "only of this kind")
  @Nullable String kind;

  @Option(
      names = {"-t", "--tag"},
      paramLabel = "TAG",
      description = "only with this tag")
  @Nullable String tag;

  @Option(
      names = "--search",
      paramLabel = "SEARCH",
      description = {
        "only those found by this, such as",
        "'age:<1h payload.customer:c499 timeout'"
      })
  @Nullable String search;

  public boolean isEmpty() {
    return states == null && queue == null && kind == null && tag == null && search == null;
  }

  public JobFilter filter() {
    String state =
        states == null
            ? null
            : states.stream().map(JobState::name).collect(Collectors.joining(","));
    Map<String, Optional<String>> given =
        Map.of(
            "state", Optional.ofNullable(state),
            "queue", Optional.ofNullable(queue),
            "kind", Optional.ofNullable(kind),
            "tag", Optional.ofNullable(tag),
            "search", Optional.ofNullable(search));
    return JobSearch.of((String name) -> given.getOrDefault(name, Optional.empty()))
        .filter(Instant.now());
  }
}
