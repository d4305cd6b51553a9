package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.ops.UnhandledKind;
import dev.holdfast.model.ops.UnservedVersion;
import dev.holdfast.model.ops.Warnings;
import java.util.ArrayList;
import java.util.List;

/**
 * Jobs that failed lately, run under leases that no reaper ends, ask in vain, or have no handler or
 * none of their version.
 */
final class JobRules implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    Warnings warnings = situation.facts().warnings();
    List<Finding> found = new ArrayList<>();
    if (warnings.toxic() > 0) {
      found.add(of(ProblemCode.TOXIC_JOBS, warnings.toxic()));
    }
    if (warnings.failed() > 0) {
      found.add(of(ProblemCode.JOBS_FAILED, warnings.failed()));
    }
    if (warnings.overdue() > 0) {
      found.add(of(ProblemCode.LEASES_OVERDUE, warnings.overdue()));
    }
    if (warnings.unanswered() > 0) {
      found.add(
          of(ProblemCode.WAITS_UNANSWERED, warnings.unanswered())
              .with(Finding.SECONDS, Warnings.ANSWERED_WITHIN.toSeconds()));
    }
    warnings.unhandled().forEach(kind -> found.add(unhandled(kind)));
    warnings.unserved().forEach(version -> found.add(unserved(version)));
    return found;
  }

  private static Finding of(ProblemCode problem, long jobs) {
    return Finding.of(problem).with(Finding.JOBS, jobs);
  }

  private static Finding unhandled(UnhandledKind kind) {
    return of(ProblemCode.KIND_UNHANDLED, kind.jobs())
        .with(Finding.QUEUE, kind.queue())
        .with(Finding.KIND, kind.kind());
  }

  private static Finding unserved(UnservedVersion version) {
    return of(ProblemCode.VERSION_UNSERVED, version.jobs())
        .with(Finding.QUEUE, version.queue())
        .with(Finding.KIND, version.kind())
        .with(Finding.VERSION, version.version())
        .with(Finding.SINCE, version.since());
  }
}
