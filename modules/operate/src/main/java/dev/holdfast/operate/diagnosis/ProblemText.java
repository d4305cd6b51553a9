package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/**
 * A problem in words, from its code and parameters: those of {@code holdfast health}, and the
 * {@code message} and {@code httpHint} of the API. The page has its own, in {@code problems.js}.
 *
 * @param gist the problem without numbers, which stays the same while the problem lasts
 * @param message the problem with its numbers
 * @param cliHint what to do, with the command line
 * @param httpHint what to do, with the API
 */
public record ProblemText(String gist, String message, String cliHint, String httpHint) {
  ProblemText(String message, String cliHint, String httpHint) {
    this(message, message, cliHint, httpHint);
  }

  public static ProblemText of(Finding finding) {
    return of(finding.problem(), new ProblemParameters(finding.parameters()));
  }

  /**
   * @return empty if the code is one of a newer server
   */
  public static Optional<ProblemText> of(String code, Map<String, Object> parameters) {
    return Arrays.stream(ProblemCode.values())
        .filter(each -> each.text().equals(code))
        .findAny()
        .map(known -> of(known, new ProblemParameters(parameters)));
  }

  private static ProblemText of(ProblemCode problem, ProblemParameters about) {
    WorkerProblemText worker = new WorkerProblemText(about);
    DispatchProblemText dispatch = new DispatchProblemText(about);
    return switch (problem) {
      case WORKER_STARTING -> worker.starting();
      case WORKER_SILENT -> worker.silent();
      case WORKER_CRASH_LOOP -> worker.crashLoop();
      case WORKER_FAILED -> worker.failed();
      case WORKER_PAUSED -> worker.paused();
      case WORKER_STOPPED -> worker.stopped();
      case WORKER_NOT_PROCESSING -> worker.idle();
      case HANDLER_OVERDUE -> worker.overdueHandler();
      case DISPATCH_UNREACHABLE -> dispatch.unreachable();
      case DISPATCH_FAILING -> dispatch.failing();
      case DISPATCH_SECRET_REFUSED -> dispatch.secretRefused();
      case DISPATCH_NOT_ALLOWED -> dispatch.notAllowed();
      case ALL_PAUSED ->
          counting(
              about,
              "all workers are paused, since " + about.moment(Finding.SINCE) + ", and ",
              " waits",
              " wait",
              "resume them with 'holdfast workers resume --all'",
              "resume them with POST /v1/workers/resume");
      case SUPERVISOR_SILENT -> {
        String hint =
            "check its machine, and start it there with 'holdfast supervise'; the jobs of its"
                + " workers are requeued when their leases expire";
        yield new ProblemText(
            "supervisor '%s' has stopped reporting, and so have its workers: %s"
                .formatted(about.text(Finding.SUPERVISOR), about.text(Finding.WORKER_NAMES)),
            hint,
            hint);
      }
      case QUEUE_PAUSED -> {
        String queue = about.text(Finding.QUEUE);
        yield counting(
            about,
            "queue '%s' is paused and ".formatted(queue),
            " waits in it",
            " wait in it",
            "resume it with 'holdfast queues resume %s'".formatted(queue),
            "resume it with POST /v1/queues/%s/resume".formatted(queue));
      }
      case QUEUE_STALLED -> about.flag(Finding.PUSHED) ? notPushed(about) : notClaimed(about);
      case TOXIC_JOBS ->
          counting(
              about,
              "",
              " crashed its workers too often and failed within the last hour (TOXIC_JOB)",
              " crashed their workers too often and failed within the last hour (TOXIC_JOB)",
              "'holdfast jobs list --state failed' shows them as TOXIC_JOB, 'holdfast jobs show ID'"
                  + " shows each attempt; fix the cause, then 'holdfast jobs retry ID'",
              "list them with GET /v1/jobs?state=FAILED&q=TOXIC_JOB, see their attempts with GET"
                  + " /v1/jobs/{id}/attempts, fix the cause, then POST /v1/jobs/{id}/retry");
      case JOBS_FAILED ->
          counting(
              about,
              "",
              " failed within the last hour",
              " failed within the last hour",
              "see why with 'holdfast jobs list --state failed', fix the cause, then"
                  + " 'holdfast jobs retry --state failed'",
              "see why with GET /v1/jobs?state=FAILED, fix the cause, then POST /v1/jobs/retry");
      case LEASES_OVERDUE ->
          counting(
              about,
              "",
              " runs under an expired lease, and no reaper requeues it",
              " run under expired leases, and no reaper requeues them",
              "start a worker or a server, or look into the logs of those that run",
              "look into the logs of servers and workers: their reapers do not reach the database");
      case WAITS_UNANSWERED ->
          counting(
              about,
              "",
              " asks somebody, and nobody has answered for more than %d hours"
                  .formatted(about.number(Finding.SECONDS) / 3600),
              " ask somebody, and nobody has answered for more than %d hours"
                  .formatted(about.number(Finding.SECONDS) / 3600),
              "see the questions with 'holdfast inbox', then 'holdfast jobs approve ID' or 'reject ID'",
              "see the questions with GET /v1/jobs?waits=approval, then POST /v1/jobs/{id}/decisions");
      case KIND_UNHANDLED -> unhandled(about);
      case VERSION_UNSERVED -> unserved(about);
      case SCHEDULE_BROKEN -> {
        String hint = "set it again, or remove it; until then it is tried every minute";
        yield new ProblemText(
            "schedule '%s' cannot be fired: %s"
                .formatted(about.text(Finding.SCHEDULE), about.reason()),
            hint,
            hint);
      }
      case SCHEDULE_OVERDUE -> {
        String hint = "start a worker or a server: either fires schedules";
        yield new ProblemText(
            "schedule '%s' was due at %s and has not fired"
                .formatted(about.text(Finding.SCHEDULE), about.moment(Finding.SINCE)),
            hint,
            hint);
      }
      case NOTICES_FAILING -> {
        String hint =
            "see that the receiver of HOLDFAST_NOTIFY_URL runs and answers 2xx; they are sent again"
                + " for a day, and ";
        yield new ProblemText(
            "notices of questions are not received",
            "%s of questions cannot be sent: %s".formatted(about.notices(), about.reason()),
            hint + "'holdfast notices list' shows them",
            hint + "GET /v1/notices shows them");
      }
      case NOTICES_GIVEN_UP ->
          new ProblemText(
              "notices of open questions were given up",
              "%s of open questions could not be sent for a day, and will not be any more"
                  .formatted(about.notices()),
              "see 'holdfast inbox' for the questions, and 'holdfast notices send ID' to send one"
                  + " again",
              "see GET /v1/jobs?waits=approval for the questions, and POST /v1/notices/{id}/send to"
                  + " send one again");
      case NOTIFICATIONS_LOST -> {
        String hint = "connect to PostgreSQL directly, or through a pooler in session mode";
        yield new ProblemText(
            "notifications do not arrive: new jobs are found by polling, up to a second late",
            hint,
            hint);
      }
    };
  }

  /**
   * A problem with a number of jobs, which is between the two halves of the sentence.
   *
   * @param one the second half after "1 job"
   * @param several the second half after "2 jobs"
   */
  private static ProblemText counting(
      ProblemParameters about,
      String before,
      String one,
      String several,
      String cliHint,
      String httpHint) {
    return new ProblemText(
        before + "jobs" + several,
        before + about.jobs() + (about.isOneJob() ? one : several),
        cliHint,
        httpHint);
  }

  private static ProblemText notPushed(ProblemParameters about) {
    String queue = about.text(Finding.QUEUE);
    return counting(
        about,
        "",
        " of queue '%s' is due and no server pushes it".formatted(queue),
        " of queue '%s' are due and no server pushes them".formatted(queue),
        "servers push the tasks of this queue: start one with 'holdfast server', or look into the"
            + " logs of those that run",
        "servers push the tasks of this queue: look into their logs");
  }

  private static ProblemText notClaimed(ProblemParameters about) {
    String queue = about.text(Finding.QUEUE);
    String hint = "start a worker for it: holdfast worker --queue " + queue;
    return counting(
        about,
        "",
        " of queue '%s' is due and no worker claims it".formatted(queue),
        " of queue '%s' are due and no worker claims them".formatted(queue),
        hint,
        hint);
  }

  private static ProblemText unhandled(ProblemParameters about) {
    String kind = about.text(Finding.KIND);
    String queue = about.text(Finding.QUEUE);
    String which = " of kind '%s' in queue '%s'".formatted(kind, queue);
    String start = "start a worker of this queue with a handler for the kind, or cancel them with ";
    return counting(
        about,
        "",
        which + " waits and no worker handles it",
        which + " wait and no worker handles it",
        start + "'holdfast jobs cancel --kind %s --queue %s'".formatted(kind, queue),
        start + "POST /v1/jobs/cancel");
  }

  private static ProblemText unserved(ProblemParameters about) {
    String which =
        " of kind '%s' in queue '%s'"
            .formatted(about.text(Finding.KIND), about.text(Finding.QUEUE));
    long version = about.number(Finding.VERSION);
    String since =
        " with version %d, which no worker has since %s"
            .formatted(version, about.moment(Finding.SINCE));
    String hint =
        "start a worker of this queue that has version %d of the kind, beside newer ones if it has any"
            .formatted(version);
    return counting(
        about, "", which + " has begun" + since, which + " have begun" + since, hint, hint);
  }
}
