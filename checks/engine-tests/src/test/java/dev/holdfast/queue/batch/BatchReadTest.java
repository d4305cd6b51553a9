package dev.holdfast.queue.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.search.RunSummary;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Queries;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A job in a batch is RUNNING for every read, though its row says PENDING. */
class BatchReadTest extends BatchFixture {
  static Stream<Asked> everyQuestion() {
    JobFilter running = JobFilter.ALL.states(Set.of(JobState.RUNNING));
    return Stream.of(
        new Asked("find", JobState.RUNNING, (q, job) -> find(q, job).state()),
        new Asked("its attempt", 1, (q, job) -> find(q, job).attempt()),
        new Asked("its worker", WORKER, (q, job) -> String.valueOf(find(q, job).worker())),
        new Asked("list", 3, (q, job) -> q.queries().list(running).size()),
        new Asked("page", 3, (q, job) -> q.queries().page(running).jobs().size()),
        new Asked("brief page", 3, (q, job) -> q.queries().briefPage(running).jobs().size()),
        new Asked("count", 3L, (q, job) -> q.queries().count(running, 10).count()),
        new Asked(
            "statistics",
            3L,
            (q, job) -> q.queries().statistics(Tenant.ANY).byState().get(JobState.RUNNING)),
        new Asked("queues", 3L, (q, job) -> q.admin().queues(Tenant.ANY).getFirst().running()),
        new Asked("due", 0L, (q, job) -> q.admin().queues(Tenant.ANY).getFirst().due()),
        new Asked("depth", 0L, (q, job) -> q.queries().depth(List.of(QUEUE), 10, Tenant.ANY)),
        new Asked("running", 3L, (q, job) -> q.queries().running(QUEUE, WORKER)),
        new Asked(
            "holders", 3L, (q, job) -> q.queries().holders(Tenant.ANY, 5, 5).getFirst().held()),
        new Asked("states", JobState.RUNNING, BatchReadTest::stateOf),
        new Asked("changes", JobState.RUNNING, BatchReadTest::changeOf),
        new Asked("timeline", "processing", BatchReadTest::lastEvent),
        new Asked("attempts", AttemptOutcome.RUNNING, BatchReadTest::outcome),
        new Asked(
            "worker names",
            WORKER,
            (q, job) ->
                String.valueOf(
                    q.queries().workerNames(List.of(new Lease(job, 1))).get(new Lease(job, 1)))),
        new Asked("ids", 3, (q, job) -> q.queries().ids(running).ids().size()),
        new Asked("run", JobState.RUNNING, BatchReadTest::stateInRun),
        new Asked(
            "warnings",
            List.of(),
            (q, job) -> q.queries().warnings(Tenant.ANY, Duration.ZERO).unhandled()),
        new Asked("counts", List.of(JobState.RUNNING), BatchReadTest::statesCounted),
        new Asked("held within", true, BatchReadTest::isHeld),
        new Asked("held by", 3, (q, job) -> q.jobs().heldBy(WORKER).size()),
        new Asked(
            "may be known", true, (q, job) -> q.jobs().mayHaveHandler(job, Duration.ofMinutes(1))));
  }

  /**
   * Reads of what a job in a batch cannot have, of jobs that have ended or that a worker over HTTP
   * holds, and those that have tests of their own below.
   */
  private static final Set<String> OTHERS =
      Set.of(
          "artifacts",
          "backgrounds",
          "children",
          "confirmed",
          "continuesSteps",
          "dependencies",
          "ended",
          "failures",
          "finished",
          "heldOverHttp",
          "history",
          "holderOf",
          "idsLike",
          "log",
          "logEnds",
          "now",
          "patch",
          "patches",
          "pendingCommand",
          "question",
          "reportedCompletions",
          "runs",
          "runTimes",
          "step",
          "steps",
          "stepsOverview",
          "waits");

  @Test
  void every_method_of_the_queries_is_a_question_here() {
    Set<String> asked =
        everyQuestion()
            .map(question -> question.name().replace(" ", ""))
            .collect(Collectors.toCollection(TreeSet::new));
    asked.removeAll(Set.of("itsattempt", "itsworker", "queues", "due", "heldby", "maybeknown"));
    asked.addAll(OTHERS.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList());
    assertThat(asked)
        .isEqualTo(
            Arrays.stream(Queries.class.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()))
                .filter(method -> !method.isSynthetic())
                .map(method -> method.getName().toLowerCase(Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new)));
  }

  private static JobState stateOf(JobStore asked, JobId job) {
    return asked.queries().states(List.of(job)).getFirst().state();
  }

  private static JobState stateInRun(JobStore asked, JobId job) {
    return asked.queries().run(job, Tenant.ANY).orElseThrow().jobs().getFirst().state();
  }

  private static List<JobState> statesCounted(JobStore asked, JobId job) {
    return asked.queries().counts(JobFilter.ALL).rows().stream().map(JobCounts.Row::state).toList();
  }

  private static boolean isHeld(JobStore asked, JobId job) {
    return asked.queries().heldWithin(new Lease(job, 1), Duration.ZERO);
  }

  private static JobState changeOf(JobStore asked, JobId job) {
    Queries all = asked.queries();
    return all.changes(new ChangedJob(Instant.EPOCH, List.of(job), Tenant.ANY, 10)).stream()
        .filter(brief -> brief.id().equals(job))
        .findFirst()
        .orElseThrow()
        .state();
  }

  private static String lastEvent(JobStore asked, JobId job) {
    return asked.queries().timeline(job).getLast().type();
  }

  @ParameterizedTest
  @MethodSource("everyQuestion")
  void every_read_shows_a_batch_claimed_job_as_running(Asked asked) {
    JobId job = batch(3).get(1).job();
    assertThat(asked.question().ask(opened, job)).isEqualTo(asked.answer());
    assertThat(rows("RUNNING", 1)).isPositive();
  }

  @Test
  void a_batch_claimed_dependency_is_shown_as_running() {
    JobId job = add(job());
    JobId waiting = add(job().dependsOn(job));
    assertThat(inBatch(5)).extracting(Lease::job).containsExactly(job);
    assertThat(queries.dependencies(waiting).dependsOn())
        .extracting(JobDependencies.Related::state)
        .containsExactly(JobState.RUNNING);
  }

  @Test
  void batch_claimed_jobs_of_a_run_are_counted_as_running() {
    JobId run = job().id();
    add(job().run(run, "one"));
    assertThat(inBatch(5)).hasSize(1);
    assertThat(queries.runs(Tenant.ANY, null, 5).runs())
        .extracting(RunSummary::states)
        .containsExactly(Map.of(JobState.RUNNING, 1L));
  }

  @Test
  void on_read_only_connections_batch_claimed_jobs_are_read_as_pending() {
    Lease lease = inBatch();
    String options = "?options=-c%20default_transaction_read_only=on";
    try (JobStore reader =
        new JobStore(
            db.dataSource(db.url() + options, 2), new JacksonCodec(), JobStore.Options.DEFAULT)) {
      assertThat(find(reader, lease.job()).state()).isEqualTo(JobState.PENDING);
      assertThat(reader.queries().statistics(Tenant.ANY).byState())
          .containsEntry(JobState.PENDING, 1L);
    }
  }
}
