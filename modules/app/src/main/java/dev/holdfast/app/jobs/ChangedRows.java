package dev.holdfast.app.jobs;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which jobs of a list are new in it, or have changed, since it was last read. */
final class ChangedRows {
  private record Shown(JobState state, int attempt, @Nullable Integer progress) {
    static Shown of(JobStatus job) {
      return new Shown(job.state(), job.attempt(), job.progress());
    }
  }

  private Map<JobId, Shown> last;

  ChangedRows(List<JobStatus> first) {
    this.last = shown(first);
  }

  /** The oldest first, as lines that are printed below each other. */
  List<JobStatus> since(List<JobStatus> newestFirst) {
    List<JobStatus> changed = new ArrayList<>();
    for (JobStatus job : newestFirst.reversed()) {
      if (!Shown.of(job).equals(last.get(job.id()))) {
        changed.add(job);
      }
    }
    last = shown(newestFirst);
    return changed;
  }

  private static Map<JobId, Shown> shown(List<JobStatus> jobs) {
    Map<JobId, Shown> shown = new HashMap<>();
    jobs.forEach(job -> shown.put(job.id(), Shown.of(job)));
    return shown;
  }
}
