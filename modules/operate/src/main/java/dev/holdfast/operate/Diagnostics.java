package dev.holdfast.operate;

import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.diagnosis.Diagnosis;
import dev.holdfast.operate.diagnosis.ProblemText;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Notices;
import dev.holdfast.queue.Queries;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Findings about the system, from the database and from the state of this process. */
public final class Diagnostics {
  private final Queries queries;
  private final Admin admin;
  private final Notices notices;
  private final Predicate<String> waitedFor;
  private final BooleanSupplier notificationsLost;
  private final Timings timings;

  /**
   * @param waitedFor whether a long poll waits for jobs of a queue at this server
   * @param notificationsLost whether notifications of the database do not arrive
   */
  public Diagnostics(
      JobStore store,
      Predicate<String> waitedFor,
      BooleanSupplier notificationsLost,
      Timings timings) {
    this.queries = store.queries();
    this.admin = store.admin();
    this.notices = store.notices();
    this.waitedFor = waitedFor;
    this.notificationsLost = notificationsLost;
    this.timings = timings;
  }

  /** Of a process that is no server. */
  public Diagnostics(JobStore store, Timings timings) {
    this(store, name -> false, () -> false, timings);
  }

  /** Inputs that are expensive to read and change slowly. */
  public record Background(
      Warnings warnings, List<ScheduleStatus> schedules, Notice.Trouble notices) {}

  public Background background(Tenant tenant) {
    // Schedules belong to all tenants together, and so does the receiver of notices.
    return new Background(
        queries.warnings(tenant, timings.reapGrace()),
        tenant.isAny() ? admin.schedules() : List.of(),
        tenant.isAny() ? notices.noticeTrouble() : Notice.Trouble.NONE);
  }

  /** What is wrong now with what a tenant sees. */
  public List<Operator.Problem> problems(
      List<QueueStatus> queues, WorkerFleet fleet, Tenant tenant) {
    return of(queues, fleet, background(tenant)).stream().map(Diagnostics::problem).toList();
  }

  public List<Finding> of(List<QueueStatus> queues, WorkerFleet fleet, Background background) {
    Set<String> waited =
        queues.stream().map(QueueStatus::name).filter(waitedFor).collect(Collectors.toSet());
    List<Finding> found =
        new ArrayList<>(
            Diagnosis.of(
                new Diagnosis.Facts(
                    queues,
                    fleet,
                    background.warnings(),
                    background.schedules(),
                    background.notices(),
                    waited)));
    if (notificationsLost.getAsBoolean()) {
      found.add(Finding.of(ProblemCode.NOTIFICATIONS_LOST));
    }
    return found;
  }

  /** A finding in the words of the API. */
  public static Operator.Problem problem(Finding finding) {
    ProblemText text = ProblemText.of(finding);
    return new Operator.Problem(
        finding.code(), finding.parameters(), text.message(), text.httpHint());
  }
}
