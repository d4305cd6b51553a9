package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.JobState;
import java.util.Comparator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A job in one line, in the form in which the rows of the database are read for a comparison. */
final class ModelRow {
  private ModelRow() {}

  static String of(ModelJob job) {
    return String.join(
        " ",
        job.id.toString(),
        job.state.name(),
        "attempt=" + job.attempt,
        "worker=" + shown(job.state == JobState.RUNNING ? job.worker : null),
        "run_at=" + job.runAt,
        "heartbeat=" + shown(job.heartbeatAt),
        "lease=" + shown(job.leaseExpiresAt),
        "failures=" + job.failures,
        "crashes=" + job.crashes,
        "isolated=" + job.isolated,
        "cancel=" + shown(job.cancelRequestedAt),
        "failure=" + shown(job.failureCode),
        "result=" + (job.result == null ? "-" : job.result.text().replace(" ", "")),
        "progress=" + shown(job.progress),
        "finished=" + shown(job.finishedAt),
        "events=" + job.events.size(),
        "attempts="
            + job.attempts.entrySet().stream()
                .map(each -> each.getKey() + ":" + each.getValue().outcome())
                .collect(Collectors.joining(",")),
        "steps="
            + job.steps.entrySet().stream()
                .sorted(Comparator.comparingInt(each -> each.getValue().index()))
                .map(
                    each ->
                        "%s:%d:%s:%d:%d:%s"
                            .formatted(
                                each.getKey(),
                                each.getValue().index(),
                                each.getValue().state(),
                                each.getValue().attempt(),
                                each.getValue().resets(),
                                outcome(each.getValue().ended())))
                .collect(Collectors.joining(",")),
        "key=" + shown(job.gaveUpKey || job.job.unique() == null ? null : job.job.unique().key()),
        "artifacts=" + String.join(",", job.artifacts.keySet()),
        "wait=" + openWait(job.wait),
        "mail="
            + job.mailbox.stream()
                .map(mail -> mail.number + ":" + mail.signal.name() + ":" + shown(mail.takenBy))
                .collect(Collectors.joining(",")));
  }

  private static String outcome(@Nullable WaitEnd ended) {
    return ended == null
        ? "-"
        : ended.outcome()
            + (ended.by() == null ? "" : "/" + ended.by())
            + (ended.comment() == null ? "" : "/" + ended.comment());
  }

  private static String openWait(ModelJob.@Nullable OpenWait wait) {
    return wait == null
        ? "-"
        : wait.asked().sort() + ":" + wait.asked().id() + ":" + shown(wait.wakeAt());
  }

  private static String shown(@Nullable Object value) {
    return value == null ? "-" : value.toString();
  }
}
