package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.util.List;
import java.util.Set;

/**
 * What an operator should know, and what to do about it: the one set of rules behind {@code
 * holdfast health}, {@code /v1/info} and the topic {@code system:health}.
 */
public final class Diagnosis {
  /**
   * Causes before consequences. A rule marks the queues whose problem it explains, and a later rule
   * does not report them again.
   */
  private static final List<Rule> RULES =
      List.of(
          new WorkersPausedRule(),
          new SilentSupervisorRule(),
          new WorkerProcessRules(),
          new LeaseHolderRule(),
          new QueueRules(),
          new JobRules(),
          new ScheduleRules(),
          new NoticeRules());

  /**
   * The state of the database at one moment.
   *
   * @param waitedFor queues from which a client of this process waits for jobs
   */
  public record Facts(
      List<QueueStatus> queues,
      WorkerFleet workers,
      Warnings warnings,
      List<ScheduleStatus> schedules,
      Notice.Trouble notices,
      Set<String> waitedFor) {
    public Facts {
      queues = List.copyOf(queues);
      schedules = List.copyOf(schedules);
      waitedFor = Set.copyOf(waitedFor);
    }
  }

  private Diagnosis() {}

  public static List<Finding> of(Facts facts) {
    Situation situation = new Situation(facts);
    return RULES.stream().flatMap(rule -> rule.check(situation).stream()).toList();
  }
}
