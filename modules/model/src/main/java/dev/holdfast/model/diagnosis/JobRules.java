package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.UnhandledKind;
import dev.holdfast.model.ops.Warnings;
import java.util.ArrayList;
import java.util.List;

/** Jobs that failed lately, run under leases that no reaper ends, or have no handler. */
final class JobRules implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    Warnings warnings = situation.facts().warnings();
    List<Finding> found = new ArrayList<>();
    if (warnings.toxic() > 0) {
      found.add(toxic(warnings.toxic()));
    }
    if (warnings.failed() > 0) {
      found.add(failed(warnings.failed()));
    }
    if (warnings.overdue() > 0) {
      found.add(overdue(warnings.overdue()));
    }
    warnings.unhandled().forEach(kind -> found.add(unhandled(kind)));
    return found;
  }

  private static Finding unhandled(UnhandledKind kind) {
    String which = " of kind '%s' in queue '%s'".formatted(kind.kind(), kind.queue());
    return Finding.counting(
            "kind_unhandled",
            "",
            kind.jobs(),
            which + " waits and no worker handles it",
            which + " wait and no worker handles it",
            "start a worker of this queue with a handler for the kind, or cancel them with"
                + " 'holdfast jobs cancel --kind %s --queue %s'"
                    .formatted(kind.kind(), kind.queue()),
            "start a worker of this queue with a handler for the kind, or cancel them with POST"
                + " /v1/jobs/cancel")
        .with(Finding.QUEUE, kind.queue())
        .with("kind", kind.kind());
  }

  private static Finding toxic(long jobs) {
    return Finding.counting(
        "toxic_jobs",
        "",
        jobs,
        " crashed its workers too often and failed within the last hour (TOXIC_JOB)",
        " crashed their workers too often and failed within the last hour (TOXIC_JOB)",
        "'holdfast jobs list --state failed' shows them as TOXIC_JOB, 'holdfast jobs show ID' shows"
            + " each attempt; fix the cause, then 'holdfast jobs retry ID'",
        "list them with GET /v1/jobs?state=FAILED&q=TOXIC_JOB, see their attempts with GET"
            + " /v1/jobs/{id}/attempts, fix the cause, then POST /v1/jobs/{id}/retry");
  }

  private static Finding failed(long jobs) {
    return Finding.counting(
        "jobs_failed",
        "",
        jobs,
        " failed within the last hour",
        " failed within the last hour",
        "see why with 'holdfast jobs list --state failed', fix the cause, then"
            + " 'holdfast jobs retry --state failed'",
        "see why with GET /v1/jobs?state=FAILED, fix the cause, then POST /v1/jobs/retry");
  }

  private static Finding overdue(long jobs) {
    return Finding.counting(
        "leases_overdue",
        "",
        jobs,
        " runs under an expired lease, and no reaper requeues it",
        " run under expired leases, and no reaper requeues them",
        "start a worker or a server, or look into the logs of those that run",
        "look into the logs of servers and workers: their reapers do not reach the database");
  }
}
