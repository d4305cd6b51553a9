package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.value.Plural;

/** Words for problems of one worker. */
final class WorkerProblemText {
  private final ProblemParameters about;
  private final String name;

  WorkerProblemText(ProblemParameters about) {
    this.about = about;
    this.name = about.workerName();
  }

  ProblemText starting() {
    return new ProblemText(
        "%s has been starting for more than %d seconds"
            .formatted(name, about.number(Finding.SECONDS)),
        "see what it waits for with %s: its handlers, or the database; %s restarts it"
            .formatted(log(), command("restart")),
        "see what it waits for with %s on its machine; %s restarts it"
            .formatted(log(), request("restart")));
  }

  ProblemText silent() {
    return about.has(Finding.SUPERVISOR) ? silentProcess() : silentHolder();
  }

  private ProblemText silentProcess() {
    return new ProblemText(
        name + " has stopped reporting",
        "its supervisor will restart it; see " + log(),
        "its supervisor will restart it; see " + log() + " on its machine");
  }

  /** A worker without a supervisor. */
  private ProblemText silentHolder() {
    String hint = "check its machine; its jobs are requeued automatically";
    return new ProblemText(
        about.flag(Finding.PUSHED)
            ? "a worker that gets pushed tasks of queue '%s' has stopped reporting"
                .formatted(about.text(Finding.QUEUE))
            : "worker '%s' has stopped reporting".formatted(name),
        hint,
        hint);
  }

  ProblemText crashLoop() {
    String next =
        about.has(Finding.NEXT_RESTART)
            ? "will be restarted at " + about.moment(Finding.NEXT_RESTART)
            : "is starting";
    return new ProblemText(
        "%s keeps crashing: %s; it was restarted %s and %s"
            .formatted(
                name, about.reason(), Plural.of(about.number(Finding.RESTARTS), "time"), next),
        "see %s%s; %s stops it while you fix the cause"
            .formatted(log(), exitHint(), command("stop")),
        "see %s on its machine%s; %s stops it while you fix the cause"
            .formatted(log(), exitHint(), request("stop")));
  }

  ProblemText failed() {
    return new ProblemText(
        name + " has failed and is not restarted any more: " + about.reason(),
        "see its log with %s%s, fix the cause, then %s"
            .formatted(log(), exitHint(), command("resume")),
        "see its log with %s on its machine%s, fix the cause, then %s"
            .formatted(log(), exitHint(), request("resume")));
  }

  ProblemText paused() {
    return new ProblemText(
        name + " is paused and jobs of its queue wait",
        "resume it with " + command("resume"),
        "resume it with " + request("resume"));
  }

  ProblemText stopped() {
    return new ProblemText(
        name + " is stopped, jobs of its queue wait, and no other worker serves it",
        "start it with " + command("resume"),
        "start it with " + request("resume"));
  }

  ProblemText idle() {
    return new ProblemText(
        "%s is healthy and idle although jobs of its queue have waited for more than %d seconds"
            .formatted(name, about.number(Finding.SECONDS)),
        "see why with %s, then %s".formatted(log(), command("restart")),
        "see why with %s on its machine, then %s".formatted(log(), request("restart")));
  }

  ProblemText overdueHandler() {
    String hint =
        "its process is restarted before long, or at once with %s; let the handler check"
            + " context.isCancelled()";
    return new ProblemText(
        name + " has a handler that still runs after its attempt has ended",
        name + " is healthy, but " + about.reason(),
        hint.formatted(command("restart")),
        hint.formatted(request("restart")));
  }

  private String log() {
    return "'holdfast logs " + about.text(Finding.WORKER) + "'";
  }

  private String command(String action) {
    return "'holdfast workers " + action + " " + about.text(Finding.WORKER) + "'";
  }

  private String request(String action) {
    return "POST /v1/workers/" + about.text(Finding.WORKER) + "/" + action;
  }

  /** What the exit code suggests, in parentheses; empty when it suggests nothing. */
  private String exitHint() {
    String hint =
        about.has(Finding.EXIT_CODE)
            ? WorkerExit.of((int) about.number(Finding.EXIT_CODE)).hint()
            : "nothing";
    return hint.equals("nothing") ? "" : " (" + hint + ")";
  }
}
