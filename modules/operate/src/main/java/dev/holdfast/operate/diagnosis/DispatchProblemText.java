package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;

/** Words for tasks that cannot be pushed. Dispatch is set by the API: both hints are the same. */
final class DispatchProblemText {
  private final ProblemParameters about;
  private final String queue;
  private final String worker;
  private final String show;
  private final String set;

  DispatchProblemText(ProblemParameters about) {
    this.about = about;
    this.queue = about.text(Finding.QUEUE);
    this.worker = "the worker that tasks of queue '%s' are pushed to".formatted(queue);
    this.show = "GET /v1/queues/%s".formatted(queue);
    this.set = "PUT /v1/queues/%s/dispatch".formatted(queue);
  }

  ProblemText unreachable() {
    return text(
        worker + " does not answer",
        "start the worker at the dispatch URL (%s shows it), or set another URL with %s; tasks are pushed again automatically"
            .formatted(show, set));
  }

  ProblemText failing() {
    return text(
        worker + " accepts none",
        "look into the log of the worker at the dispatch URL (%s shows it); tasks are pushed again automatically"
            .formatted(show));
  }

  ProblemText secretRefused() {
    return text(
        worker + " refuses the dispatch secret",
        "give both the same secret, here with %s, then retry the tasks that failed with DISPATCH_REFUSED"
            .formatted(set));
  }

  ProblemText notAllowed() {
    return text(
        "tasks of queue '%s' would be pushed to a host that is not allowed".formatted(queue),
        "name the host in HOLDFAST_DISPATCH_ALLOW of every server, or set another URL with " + set);
  }

  private ProblemText text(String what, String hint) {
    String message =
        "%s, since %s (%s)%s"
            .formatted(
                what,
                about.moment(Finding.SINCE),
                about.reason(),
                about.flag(Finding.CIRCUIT_OPEN)
                    ? "; the circuit breaker is open, with single tries up to a minute apart"
                    : "");
    return new ProblemText(message, hint, hint);
  }
}
