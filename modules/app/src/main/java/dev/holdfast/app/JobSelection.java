package dev.holdfast.app;

import dev.holdfast.model.JobFilter;
import dev.holdfast.model.JobState;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that choose jobs. */
final class JobSelection {
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

  boolean isEmpty() {
    return states == null && queue == null && kind == null;
  }

  JobFilter filter() {
    EnumSet<JobState> wanted = EnumSet.noneOf(JobState.class);
    if (states != null) {
      wanted.addAll(states);
    }
    return JobFilter.ALL.states(wanted).queue(queue).kind(kind);
  }
}
