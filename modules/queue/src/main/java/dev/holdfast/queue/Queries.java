package dev.holdfast.queue;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.Background;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.notice.AskedQuestion;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.Throughput;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.search.JobIdPage;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.search.RunGraph;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.WaitCount;
import dev.holdfast.queue.admin.Dispatches;
import dev.holdfast.queue.admin.Queues;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.command.Commands;
import dev.holdfast.queue.health.HandledKinds;
import dev.holdfast.queue.health.HandledVersions;
import dev.holdfast.queue.history.ReadHistory;
import dev.holdfast.queue.history.RecentTallies;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.GroupCommit;
import dev.holdfast.queue.read.Artifacts;
import dev.holdfast.queue.read.ChangedJobs;
import dev.holdfast.queue.read.Count;
import dev.holdfast.queue.read.CountWaits;
import dev.holdfast.queue.read.CountsOfJobs;
import dev.holdfast.queue.read.FailuresBySignature;
import dev.holdfast.queue.read.FinishedJobs;
import dev.holdfast.queue.read.Holders;
import dev.holdfast.queue.read.JobIdSearch;
import dev.holdfast.queue.read.JobReader;
import dev.holdfast.queue.read.JobStates;
import dev.holdfast.queue.read.JobsOfRuns;
import dev.holdfast.queue.read.RelatedJobs;
import dev.holdfast.queue.read.Search;
import dev.holdfast.queue.recover.CountWarnings;
import dev.holdfast.queue.report.Log;
import dev.holdfast.queue.report.Steps;
import dev.holdfast.queue.settle.Complete;
import dev.holdfast.queue.wait.ChildEnds;
import dev.holdfast.queue.wait.ReadQuestion;
import dev.holdfast.queue.wait.SendSignal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads jobs: find, list, search, count, their timelines, steps and logs, and what changed. */
public final class Queries {
  /** So many statements at once. */
  private static final int READING_STEPS = 2;

  private final Database database;
  private final MaterializedJobs materialized;
  private final RecentTallies recentTallies = new RecentTallies();
  private final GroupCommit<JobId, List<StepStatus>> readingSteps =
      new GroupCommit<>(READING_STEPS, this::steps);

  Queries(Database database) {
    this.database = database;
    this.materialized = new MaterializedJobs(database);
  }

  /** A job as it is now; empty when there is none of this id. */
  public Optional<JobStatus> find(JobId job) {
    return materialized.reading(
        "find",
        List.of(job),
        connection -> JobReader.find(connection, job),
        found -> found.isEmpty() || !mayBeInBatch(found.get()));
  }

  private static boolean mayBeInBatch(JobStatus status) {
    return status.state() == JobState.PENDING && status.attempt() < BatchClaims.ATTEMPT;
  }

  /** The job that holds a unique key now; of several tenants, one of those that do. */
  public Optional<JobId> holderOf(String uniqueKey, String kind, Tenant tenant) {
    return database.run(
        "holderOf", connection -> SendSignal.holder(connection, tenant, kind, uniqueKey));
  }

  /** How jobs have ended that another one has started, in their order; without those it has not. */
  public List<ChildEnd> children(JobId parent, List<JobId> children) {
    return materialized.reading(
        "children", children, connection -> ChildEnds.of(connection, parent, children));
  }

  /** All jobs of the filter, however long it takes. */
  public List<JobStatus> list(JobFilter filter) {
    return materialized.reading("list", connection -> Search.list(connection, filter));
  }

  /** How many jobs the filter takes in, counted up to {@code most}. */
  public JobCount count(JobFilter filter, int most) {
    return materialized.reading("count", connection -> Search.count(connection, filter, most));
  }

  /**
   * Bounded in time, so a page may not be full: the answer says where it stopped. Long payloads and
   * results are left out, and the job says so.
   */
  public JobPage page(JobFilter filter) {
    return materialized.reading(
        "page", connection -> Search.page(connection, filter, JobReader.Detail.SHORT));
  }

  /** A page without payloads, results and stack traces, however short. */
  public JobPage briefPage(JobFilter filter) {
    return materialized.reading(
        "briefPage", connection -> Search.page(connection, filter, JobReader.Detail.NONE));
  }

  /** The ids of such a page: nothing else of the jobs is read. */
  public JobIdPage ids(JobFilter filter) {
    return materialized.reading("ids", connection -> Search.ids(connection, filter));
  }

  /** How many jobs there are in each state, queue and kind, among the newest of the filter. */
  public JobCounts counts(JobFilter filter) {
    return materialized.reading("counts", connection -> CountsOfJobs.of(connection, filter));
  }

  /** The jobs that a job depends on, and those that depend on it. */
  public JobDependencies dependencies(JobId job) {
    return materialized.reading("dependencies", connection -> RelatedJobs.of(connection, job));
  }

  /**
   * The newest runs: jobs that name the same run.
   *
   * @param before runs older than this one; null for the newest
   */
  public RunPage runs(Tenant tenant, @Nullable JobCursor before, int most) {
    return materialized.reading(
        "runs", connection -> JobsOfRuns.page(connection, tenant, before, most));
  }

  /** The jobs of a run and the dependencies between them; empty if there is no job of it. */
  public Optional<RunGraph> run(JobId run, Tenant tenant) {
    return materialized.reading("run", connection -> JobsOfRuns.graph(connection, tenant, run));
  }

  /** The jobs whose ids begin or end with a part, see {@link JobIdMatches#part}. */
  public JobIdMatches idsLike(String part, Tenant tenant) {
    return database.run("idsLike", connection -> JobIdSearch.of(connection, tenant, part));
  }

  /** What FAILED jobs failed of, grouped by signature, the latest first. */
  public FailureGroups failures(Tenant tenant, int most) {
    return database.run("failures", connection -> FailuresBySignature.of(connection, tenant, most));
  }

  /** What happened to a job, numbered from 1 without gaps. */
  public List<JobEvent> timeline(JobId job) {
    return materialized.reading(
        "timeline", List.of(job), connection -> JobReader.timeline(connection, job));
  }

  /** Of a job, in their order, the one that runs included. */
  public List<Attempt> attempts(JobId job) {
    return materialized.reading(
        "attempts", List.of(job), connection -> JobReader.attempts(connection, job));
  }

  /** What a job has published. */
  public List<PublishedArtifact> artifacts(JobId job) {
    return database.run("artifacts", connection -> Artifacts.of(connection, job));
  }

  /**
   * The steps of a job, in their order, with their checkpoints. Shares a statement with others that
   * ask at the same moment, as thousands of attempts do whose waits are over together.
   */
  public List<StepStatus> steps(JobId job) {
    return readingSteps.ask(job);
  }

  private List<List<StepStatus>> steps(List<JobId> jobs) {
    return database.run("steps", connection -> Steps.of(connection, jobs));
  }

  /** The steps of a job without their checkpoints. */
  public List<StepStatus> stepsOverview(JobId job) {
    return database.run("stepsOverview", connection -> Steps.overview(connection, job));
  }

  /** Whether attempts before this one have begun steps, and this one has begun none. */
  public boolean continuesSteps(Lease attempt) {
    return database.run("continuesSteps", connection -> Steps.continues(connection, attempt));
  }

  /** One step of a job, with its checkpoint. */
  public Optional<StepStatus> step(JobId job, String step) {
    return database.run("step", connection -> Steps.one(connection, job, step));
  }

  /** The changes that a step made in its workspace, if it is done and has one. */
  public Optional<Patch> patch(JobId job, String step) {
    return database.run("patch", connection -> Steps.patch(connection, job, step));
  }

  /** The patches of all steps that are done, in their order: git applies them as one. */
  public Optional<Patch> patches(JobId job) {
    return database.run("patches", connection -> Steps.patches(connection, job));
  }

  /** The end of a job's log, from where a reader has come to. */
  public LogTail log(JobId job, LogCursor cursor) {
    return LogTail.after(
        cursor, database.run("log", connection -> Log.read(connection, job, cursor)));
  }

  /** Where the logs of these jobs end, of those that have one: moves whenever one of them grows. */
  public Map<JobId, LogCursor> logEnds(List<JobId> jobs) {
    return jobs.isEmpty()
        ? Map.of()
        : database.run("logEnds", connection -> Log.ends(connection, jobs));
  }

  /** The command that a job has yet to obey. */
  public PendingCommand pendingCommand(JobId job) {
    return database.run("pendingCommand", connection -> Commands.of(connection, job));
  }

  /** What workers should know before they begin; jobs without any such thing are left out. */
  public Map<JobId, Background> backgrounds(List<JobId> jobs) {
    return database.run("backgrounds", connection -> Commands.backgrounds(connection, jobs));
  }

  /** What workers reported about the ends of this job's attempts. */
  public List<ReportedCompletion> reportedCompletions(JobId job) {
    return database.run("reportedCompletions", connection -> Complete.reported(connection, job));
  }

  /** The state of each of these jobs that exists. */
  public List<JobStateSnapshot> states(List<JobId> jobs) {
    return jobs.isEmpty()
        ? List.of()
        : materialized.reading("states", jobs, connection -> JobStates.of(connection, jobs));
  }

  /** Under which worker's name each of these attempts runs or ran, of those that exist. */
  public Map<Lease, String> workerNames(List<Lease> leases) {
    return leases.isEmpty()
        ? Map.of()
        : materialized.reading(
            "workerNames",
            leases.stream().map(Lease::job).toList(),
            connection -> JobStates.workers(connection, leases),
            names -> names.size() == leases.size());
  }

  /** Whether an attempt holds its job, or did less than this long ago. */
  public boolean heldWithin(Lease lease, Duration age) {
    return materialized.reading(
        "heldWithin",
        List.of(lease.job()),
        connection -> JobStates.heldWithin(connection, lease, age),
        held -> held || lease.attempt() != BatchClaims.ATTEMPT);
  }

  /** From the claim to the end, of those of these attempts that have ended. */
  public Map<Lease, Duration> runTimes(List<Lease> leases) {
    return leases.isEmpty()
        ? Map.of()
        : database.run("runTimes", connection -> JobStates.runTimes(connection, leases));
  }

  /** How many attempts workers over HTTP hold, pulled or pushed. */
  public long heldOverHttp() {
    return database.run("heldOverHttp", JobStates::heldOverHttp);
  }

  /** How an attempt ended that did not succeed. */
  public Optional<Attempt> ended(Lease lease) {
    return database.run("ended", connection -> JobStates.ended(connection, lease));
  }

  /** How many jobs of the queue run under this worker's name. */
  public long running(String queue, String worker) {
    return materialized.reading(
        "running", connection -> Dispatches.running(connection, queue, worker));
  }

  /** Of these, the jobs of which a worker has reported the start. */
  public long confirmed(String queue, String worker) {
    return database.run("confirmed", connection -> Dispatches.confirmed(connection, queue, worker));
  }

  /** Due jobs in the queues, counted up to {@code most}. */
  public long depth(List<String> queues, long most, Tenant tenant) {
    return materialized.reading(
        "depth", connection -> Queues.depth(connection, queues, most, tenant));
  }

  /** How many jobs there are, by queue, kind and state. */
  public Statistics statistics(Tenant tenant) {
    return materialized.reading("statistics", connection -> Count.all(connection, tenant));
  }

  public Warnings warnings(Tenant tenant, Duration reapGrace) {
    return materialized.reading(
        "warnings",
        connection ->
            CountWarnings.of(
                connection,
                tenant,
                reapGrace,
                HandledKinds.unhandled(connection, tenant),
                HandledVersions.unserved(connection, tenant)));
  }

  /** Of everybody, up to the oldest 10,000 of each sort. */
  public List<WaitCount> waits() {
    return database.run("waits", CountWaits::of);
  }

  /**
   * The question that a job asked at a moment, and what has become of it; empty if there is no such
   * job any longer.
   *
   * @param wait the id under which it was asked
   */
  public Optional<AskedQuestion> question(JobId job, String wait, Instant since) {
    return database.run("question", connection -> ReadQuestion.of(connection, job, wait, since));
  }

  /** What ended since the beginning of a second, by queue and second. */
  public List<Throughput> finished(Instant since, Tenant tenant) {
    return database.run("finished", connection -> FinishedJobs.since(connection, since, tenant));
  }

  /** What was enqueued and ended over a span that ends now, and how long it took. */
  public JobHistory history(JobHistory.Query query) {
    return ReadHistory.of(database, query, recentTallies);
  }

  /** Workers that hold leases, with up to so many jobs each. */
  public List<Holder> holders(Tenant tenant, int jobs, int most) {
    return materialized.reading(
        "holders", connection -> Holders.of(connection, tenant, jobs, most));
  }

  public List<JobBrief> changes(ChangedJob since) {
    return materialized.reading("changes", connection -> ChangedJobs.of(connection, since));
  }

  /** What the database's clock says. */
  public Instant now() {
    return database.now();
  }
}
