package dev.holdfast.operate;

import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.OperatorException.Reason;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.operate.Selection;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.search.JobIdPage;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.search.RunGraph;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Queries;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Jobs, on the database. A job of another tenant is answered as one that does not exist. */
final class LocalJobs implements JobOperator {
  private static final int MOST_COUNTED = 10_000;
  private static final JobPage NO_PAGE = new JobPage(List.of(), null, null);

  private final JobQueue jobs;
  private final Queries queries;
  private final Principal caller;
  private final ApprovalLinks.Maker links;

  LocalJobs(JobStore store, Principal caller, ApprovalLinks.Maker links) {
    this.jobs = store.jobs();
    this.queries = store.queries();
    this.caller = caller;
    this.links = links;
  }

  @Override
  public List<Enqueued> enqueue(List<Job> jobs) {
    for (Job job : jobs) {
      if (!caller.sees(job.tenant())) {
        throw new OperatorException(
            Reason.FORBIDDEN, "tenant '" + job.tenant() + "' is not that of the caller");
      }
    }
    List<Enqueued> enqueued = new ArrayList<>();
    for (int from = 0; from < jobs.size(); from += Limits.BULK_JOBS) {
      int to = Math.min(jobs.size(), from + Limits.BULK_JOBS);
      enqueued.addAll(this.jobs.enqueue(jobs.subList(from, to)));
    }
    return enqueued;
  }

  @Override
  public Optional<JobStatus> find(JobId job) {
    return queries.find(job).filter(found -> caller.sees(found.tenant()));
  }

  private JobStatus existing(JobId job) {
    return find(job).orElseThrow(() -> OperatorException.noSuchJob(job));
  }

  @Override
  public Optional<JobDetail> show(JobId id, Set<JobDetail.Part> parts) {
    return find(id).map(job -> detail(job, parts));
  }

  private JobDetail detail(JobStatus job, Set<JobDetail.Part> parts) {
    JobId id = job.id();
    return new JobDetail(
        job,
        // A job that has ended has no commands: that query is saved.
        job.state().isTerminal() ? PendingCommand.NONE : queries.pendingCommand(id),
        parts.contains(JobDetail.Part.EVENTS) ? queries.timeline(id) : List.of(),
        parts.contains(JobDetail.Part.ATTEMPTS) ? attempts(id) : List.of(),
        parts.contains(JobDetail.Part.STEPS) ? queries.stepsOverview(id) : List.of(),
        parts.contains(JobDetail.Part.ARTIFACTS) ? queries.artifacts(id) : List.of(),
        parts.contains(JobDetail.Part.DEPENDENCIES)
            ? queries.dependencies(id).only(each -> caller.sees(each.tenant()))
            : JobDependencies.NONE);
  }

  private List<JobDetail.Reported> attempts(JobId job) {
    Map<Integer, ReportedCompletion> reported =
        queries.reportedCompletions(job).stream()
            .collect(Collectors.toMap(ReportedCompletion::attempt, Function.identity()));
    return queries.attempts(job).stream()
        .map(each -> new JobDetail.Reported(each, reported.get(each.number())))
        .toList();
  }

  /** The filter for the jobs that the caller may see; empty if it asks for those of others. */
  private Optional<JobFilter> within(JobFilter filter) {
    String tenant = filter.tenant();
    return tenant == null
        ? Optional.of(filter.tenant(caller.tenant().nameOrNull()))
        : Optional.of(filter).filter(asked -> caller.sees(tenant));
  }

  @Override
  public List<JobStatus> list(JobFilter filter) {
    return within(filter).map(queries::list).orElse(List.of());
  }

  @Override
  public JobPage page(JobFilter filter, boolean brief) {
    return within(filter)
        .map(wanted -> brief ? queries.briefPage(wanted) : queries.page(wanted))
        .orElse(NO_PAGE);
  }

  @Override
  public JobCount count(JobFilter filter) {
    return within(filter)
        .map(wanted -> queries.count(wanted, MOST_COUNTED))
        .orElse(new JobCount(0, false));
  }

  @Override
  public JobCounts counts(JobFilter filter) {
    return within(filter)
        .map(queries::counts)
        .orElse(new JobCounts(List.of(), 0, false, List.of()));
  }

  @Override
  public JobIdMatches idsLike(String part) {
    return queries.idsLike(JobIdMatches.part(part), caller.tenant());
  }

  @Override
  public RunPage runs(@Nullable JobCursor before, int most) {
    return queries.runs(caller.tenant(), before, most);
  }

  @Override
  public Optional<RunGraph> run(JobId run) {
    return queries.run(run, caller.tenant());
  }

  @Override
  public FailureGroups failures(int most) {
    return queries.failures(caller.tenant(), most);
  }

  @Override
  public Statistics statistics() {
    return queries.statistics(caller.tenant());
  }

  @Override
  public JobHistory history(JobHistory.Query query) {
    return queries.history(
        new JobHistory.Query(query.span(), query.queue(), query.kind(), caller.tenant()));
  }

  @Override
  public LogTail log(JobId job, LogCursor after) {
    return queries.log(existing(job).id(), after);
  }

  @Override
  public Optional<StepStatus> step(JobId job, String step) {
    return queries.step(existing(job).id(), step);
  }

  @Override
  public Optional<Patch> patch(JobId job, @Nullable String step) {
    JobId found = existing(job).id();
    return step == null ? queries.patches(found) : queries.patch(found, step);
  }

  @Override
  public Commanded command(JobId job, CommandAction action, @Nullable String step, String reason) {
    JobCommand command = new JobCommand(action, step, caller.name(), reason);
    JobCommand.Outcome outcome = jobs.command(job, command, caller.tenant());
    JobCommand.Answer answer = outcome.answer();
    if (answer != JobCommand.Answer.ACCEPTED) {
      throw refused(job, answer, command.refusal(answer));
    }
    return new Commanded(outcome.pending(), outcome.stepsToRepeat());
  }

  private OperatorException refused(JobId job, JobCommand.Answer answer, String message) {
    return switch (answer) {
      case ACCEPTED -> throw new IllegalArgumentException(message);
      case NO_SUCH_JOB -> OperatorException.noSuchJob(job);
      case ALREADY_TERMINAL ->
          OperatorException.in(existing(job).state(), Reason.JOB_ALREADY_TERMINAL, message);
      case CONTINUED -> new OperatorException(Reason.JOB_CONTINUED, message);
      case NO_SUCH_STEP -> new OperatorException(Reason.NO_SUCH_STEP, message);
      case NOT_RUNNING -> new OperatorException(Reason.JOB_NOT_RUNNING, message);
      case NO_STEPS -> new OperatorException(Reason.JOB_WITHOUT_STEPS, message);
      case STEP_NOT_REACHED -> new OperatorException(Reason.STEP_NOT_REACHED, message);
      case STEP_DONE -> new OperatorException(Reason.STEP_DONE, message);
      case NOT_TAKEN_OVER -> new OperatorException(Reason.JOB_NOT_TAKEN_OVER, message);
      case NO_WORKSPACE -> new OperatorException(Reason.STEP_WITHOUT_WORKSPACE, message);
    };
  }

  @Override
  public boolean signal(JobId job, String name, Json payload, @Nullable String key) {
    SignalToJob signal = new SignalToJob(name, payload, key, caller.name());
    return wasTold(job, jobs.signal(job, signal, caller.tenant()));
  }

  @Override
  public Told signal(
      String kind,
      String uniqueKey,
      @Nullable String tenant,
      String name,
      Json payload,
      @Nullable String key) {
    Limits.kind(kind);
    Limits.key("uniqueKey", uniqueKey);
    if (tenant != null) {
      Limits.word("tenant", tenant);
    }
    SignalToJob signal = new SignalToJob(name, payload, key, caller.name());
    String whose =
        tenant == null && caller.tenant().nameOrNull() == null ? Job.DEFAULT_OWNER : tenant;
    // Another tenant's job is one that does not exist.
    JobQueue.Told told =
        whose != null && !caller.sees(whose)
            ? new JobQueue.Told(null, SignalToJob.Answer.NO_SUCH_JOB)
            : jobs.signal(
                kind, uniqueKey, signal, whose == null ? caller.tenant() : Tenant.of(whose));
    JobId job = told.job();
    if (job == null) {
      throw new OperatorException(
          Reason.NOT_FOUND,
          "no job of kind '%s' has the unique key '%s'".formatted(kind, uniqueKey));
    }
    return new Told(job, wasTold(job, told.answer()));
  }

  private boolean wasTold(JobId job, SignalToJob.Answer answer) {
    return switch (answer) {
      case ACCEPTED -> false;
      case DUPLICATE -> true;
      case NO_SUCH_JOB -> throw OperatorException.noSuchJob(job);
      case ALREADY_TERMINAL ->
          throw OperatorException.in(
              existing(job).state(),
              Reason.JOB_ALREADY_TERMINAL,
              "the job has already ended: nobody waits for the signal");
      case MAILBOX_FULL ->
          throw new OperatorException(
              Reason.MAILBOX_FULL,
              "%,d signals wait to be taken by the job: it takes no more"
                  .formatted(SignalToJob.MAILBOX));
    };
  }

  @Override
  public Forked fork(JobId job, JobFork fork) {
    JobFork.Outcome outcome = jobs.fork(job, fork, caller.name(), caller.tenant());
    return switch (outcome.answer()) {
      case FORKED -> new Forked(outcome.jobs(), false);
      case DUPLICATE -> new Forked(outcome.jobs(), true);
      case NO_SUCH_JOB -> throw OperatorException.noSuchJob(job);
      case NO_SUCH_STEP -> throw new OperatorException(Reason.NO_SUCH_STEP, fork.refusal(outcome));
      case KEY_REUSED -> throw new OperatorException(Reason.KEY_REUSED, fork.refusal(outcome));
      case CHILDREN_RUN, CHILDREN_GONE ->
          throw new OperatorException(Reason.CHILDREN_NOT_THERE, fork.refusal(outcome));
      case TOO_LARGE -> throw new OperatorException(Reason.FORK_TOO_LARGE, fork.refusal(outcome));
      case NO_PAYLOAD -> throw new OperatorException(Reason.PAYLOAD_LOST, fork.refusal(outcome));
    };
  }

  @Override
  public void decide(JobId job, String wait, boolean approved, String comment) {
    Decision decision = new Decision(approved, caller.name(), comment);
    switch (jobs.decide(job, wait, decision, caller.role(), caller.tenant())) {
      case ACCEPTED -> {}
      case NO_SUCH_JOB -> throw OperatorException.noSuchJob(job);
      case NOT_ASKED -> throw notAsked(wait);
      case NOT_ALLOWED -> throw mayNotDecide();
    }
  }

  private static OperatorException notAsked(String wait) {
    return new OperatorException(
        Reason.NOT_ASKED,
        "the job does not ask '%s', or no longer: somebody has decided, or it was too late"
            .formatted(wait));
  }

  private static OperatorException mayNotDecide() {
    return new OperatorException(Reason.FORBIDDEN, "the job asks for somebody with more rights");
  }

  @Override
  public ApprovalLinks.Link link(JobId job, String wait) {
    OpenWait open = existing(job).waitsFor();
    if (open == null || open.question() == null || !open.id().equals(wait)) {
      throw notAsked(wait);
    }
    if (caller.role().compareTo(Role.of(open.question().role().word())) < 0) {
      throw mayNotDecide();
    }
    return links.to(job, open);
  }

  @Override
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason) {
    List<Cancellation> all = jobs.cancel(List.of(job), cascade, reason, caller.tenant());
    Cancellation own =
        all.stream()
            .filter(each -> each.job().equals(job))
            .findFirst()
            .orElseThrow(() -> OperatorException.noSuchJob(job));
    if (all.stream().allMatch(c -> c.outcome() == Cancellation.Outcome.ALREADY_TERMINAL)) {
      throw OperatorException.in(
          own.previousState(),
          Reason.JOB_ALREADY_TERMINAL,
          "the job has already ended: " + own.previousState());
    }
    return all;
  }

  private JobIdPage page(Selection selection, Selection.Verb verb) {
    return switch (selection) {
      case Selection.Ids(var ids) -> new JobIdPage(ids, null);
      case Selection.Matching(var filter, var after) ->
          within(verb.of(filter).limit(JobFilter.MOST).resumed(after))
              .map(queries::ids)
              .orElse(new JobIdPage(List.of(), null));
    };
  }

  @Override
  public Cancelled cancel(Selection selection, boolean cascade, String reason) {
    JobIdPage page = page(selection, Selection.Verb.CANCEL);
    List<Cancellation> all = jobs.cancel(page.ids(), cascade, reason, caller.tenant());
    Set<JobId> answered = all.stream().map(Cancellation::job).collect(Collectors.toSet());
    return new Cancelled(
        count(all, Cancellation.Outcome.CANCELLED),
        count(all, Cancellation.Outcome.REQUESTED),
        count(all, Cancellation.Outcome.ALREADY_REQUESTED),
        count(all, Cancellation.Outcome.ALREADY_TERMINAL),
        page.ids().stream().filter(id -> !answered.contains(id)).count(),
        page.next());
  }

  private static long count(List<Cancellation> all, Cancellation.Outcome outcome) {
    return all.stream().filter(each -> each.outcome() == outcome).count();
  }

  @Override
  public JobStatus edit(JobId job, JobEdit edit) {
    JobEdit.Answer answer =
        jobs.edit(job, edit, caller.tenant()).orElseThrow(() -> OperatorException.noSuchJob(job));
    return switch (answer.outcome()) {
      case EDITED -> existing(job);
      case ALREADY_RUNNING ->
          throw OperatorException.in(
              answer.state(),
              Reason.JOB_RUNNING,
              "a worker has claimed the job: nothing was changed");
      case ALREADY_TERMINAL ->
          throw OperatorException.in(
              answer.state(),
              Reason.JOB_ALREADY_TERMINAL,
              "the job has already ended: nothing was changed");
    };
  }

  @Override
  public JobState delete(JobId job) {
    Deletion deletion =
        jobs.delete(job, caller.tenant()).orElseThrow(() -> OperatorException.noSuchJob(job));
    return switch (deletion.outcome()) {
      case DELETED -> deletion.state();
      case RUNNING ->
          throw OperatorException.in(
              deletion.state(), Reason.JOB_RUNNING, "the job runs: cancel it first");
      case AWAITED ->
          throw OperatorException.in(
              deletion.state(),
              Reason.JOB_AWAITED,
              "other jobs wait for how this one ends: cancel it, or delete them first");
    };
  }

  @Override
  public void retry(JobId job) {
    if (jobs.retry(List.of(job), caller.tenant()).isEmpty()) {
      JobState state = existing(job).state();
      throw OperatorException.in(
          state,
          Reason.JOB_NOT_RETRYABLE,
          "the job is " + state + ": only FAILED and CANCELLED jobs can be retried");
    }
  }

  @Override
  public Retried retry(Selection selection) {
    JobIdPage page = page(selection, Selection.Verb.RETRY);
    Set<JobId> retried = jobs.retry(page.ids(), caller.tenant());
    List<JobId> others = page.ids().stream().filter(id -> !retried.contains(id)).toList();
    long refused =
        queries.states(others).stream().filter(found -> caller.sees(found.tenant())).count();
    return new Retried(retried.size(), refused, others.size() - refused, page.next());
  }
}
