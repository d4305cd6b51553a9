package dev.holdfast.app.cli;

import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import java.util.EnumSet;
import java.util.List;
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

  public boolean isEmpty() {
    return states == null && queue == null && kind == null;
  }

  public JobFilter filter() {
    EnumSet<JobState> wanted = EnumSet.noneOf(JobState.class);
    if (states != null) {
      wanted.addAll(states);
    }
    return JobFilter.ALL.states(wanted).queue(queue).kind(kind);
  }
}
