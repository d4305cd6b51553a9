package dev.holdfast.app.jobs;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.app.cli.OutputOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.cli.Watch;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.ForkedFrom;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Plural;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.operate.diagnosis.ProblemText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Everything about one job. */
@Command(name = "show", description = "Show a job with its attempts, artifacts and timeline.")
final class JobsShowCommand implements Callable<Integer> {
  /** For so long a due job is claimed as usual. */
  private static final Duration JUST_DUE = Duration.ofSeconds(-5);

  private static final int MOST_RELATED = 20;

  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final OutputOption output = new OutputOption();

  @Parameters(paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Override
  public Integer call() {
    ShortId named = ShortId.of(id);
    boolean isData = output.isData();
    try (Operator operator = connection.open()) {
      JobId wanted = named.in(operator);
      JobDetail detail =
          JobsCommand.existing(
              operator,
              wanted,
              JobDetail.Part.EVENTS,
              JobDetail.Part.ATTEMPTS,
              JobDetail.Part.ARTIFACTS,
              JobDetail.Part.DEPENDENCIES);
      if (isData) {
        output.print(Report.of(detail));
      } else {
        print(detail, whyNot(operator, detail));
      }
      return ExitCode.OK;
    }
  }

  /** What --json prints. */
  record Report(
      @JsonUnwrapped JobStatus job,
      @Nullable PendingCommand liveControl,
      JobDependencies dependencies,
      List<Attempt> attempts,
      @JsonIgnoreProperties({"store", "result"}) List<PublishedArtifact> artifacts,
      List<JobEvent> timeline) {
    static Report of(JobDetail detail) {
      PendingCommand pending = detail.pending();
      return new Report(
          detail.job(),
          pending.equals(PendingCommand.NONE) ? null : pending,
          detail.dependencies(),
          detail.attempts().stream().map(JobDetail.Reported::attempt).toList(),
          detail.artifacts(),
          detail.events());
    }
  }

  /** As on the page: what is wrong with its queue, its time, or that no worker was free. */
  private static List<String> whyNot(Operator operator, JobDetail detail) {
    JobStatus job = detail.job();
    if (!isToRun(job.state()) || detail.pending().holds()) {
      return List.of();
    }
    Duration left = Duration.between(Instant.now(), job.runAt());
    if (left.compareTo(JUST_DUE) > 0 && !left.isPositive()) {
      // It is being claimed: not worth a request.
      return List.of();
    }
    List<String> reasons = new ArrayList<>();
    operator.health().problems().stream()
        .filter(each -> job.queue().equals(each.parameters().get(Finding.QUEUE)))
        .filter(each -> isAbout(each, job))
        .forEach(
            each ->
                reasons.add(
                    ProblemText.of(each.code(), each.parameters())
                        .map(ProblemText::message)
                        .orElse(each.message())));
    if (left.isPositive()) {
      reasons.add(
          (job.state() == JobState.RETRYING ? "its next attempt" : "it")
              + " is due in "
              + Durations.text(left));
    } else if (reasons.isEmpty()) {
      reasons.add(
          "it waits for a worker with a free slot"
              + (job.concurrencyKey() == null
                  ? ""
                  : ", and for others with the concurrency key " + job.concurrencyKey()));
    }
    return reasons;
  }

  /** Another version of its kind may have no worker, and this job one. */
  private static boolean isAbout(Operator.Problem problem, JobStatus job) {
    return !problem.code().equals(ProblemCode.VERSION_UNSERVED.text())
        || (job.kind().equals(problem.parameters().get(Finding.KIND))
            && String.valueOf(job.version())
                .equals(String.valueOf(problem.parameters().get(Finding.VERSION))));
  }

  private static boolean isToRun(JobState state) {
    return state == JobState.PENDING || state == JobState.RETRYING;
  }

  private static void print(JobDetail detail, List<String> whyNot) {
    JobStatus job = detail.job();
    PendingCommand pending = detail.pending();
    List<JobEvent> timeline = detail.events();
    Terminal.println(job.kind() + " " + job.id() + "  " + job.state());
    line("queue", job.queue() + ", priority " + job.priority());
    line("progress", job.progress() == null ? null : job.progress() + " %");
    line("message", job.progressMessage());
    line("version", job.version());
    line("worker", job.worker());
    line("heartbeat", job.heartbeatAt());
    line("lease ends", job.leaseExpiresAt());
    line("created", job.createdAt());
    line("run at", isToRun(job.state()) || job.state() == JobState.WAITING ? job.runAt() : null);
    whyNot.forEach(each -> line("not running", each));
    line("started", job.startedAt());
    line("finished", job.finishedAt());
    line("deadline", job.deadline());
    line(
        "budget",
        "%d of %s failed, %s (%d allowed)"
            .formatted(
                job.failures(),
                Plural.of(job.maxAttempts(), "attempt"),
                Plural.of(job.crashes(), "crash", "crashes"),
                job.maxCrashes()));
    line("cancel", job.cancelReason());
    if (!pending.equals(PendingCommand.NONE)) {
      JobsControlCommand.lines(pending).forEach(each -> line("command", each));
      JobsControlCommand.place(timeline).ifPresent(place -> line("", place));
    }
    line("run", job.run().equals(job.id()) ? null : job.run() + ", " + job.runKey());
    line("parent", job.parent());
    ForkedFrom origin = job.forkedFrom();
    line("fork of", origin == null ? null : origin.jobId() + ", from '" + origin.stepId() + "'");
    some(detail.dependencies().forks()).forEach(each -> line("forked to", each));
    lines(job, detail.dependencies());
    line("unique", job.uniqueKey());
    lines(job.attributes());
    line("payload", readable(job, JobStatus.PAYLOAD, job.payload()));
    line("result", readable(job, JobStatus.RESULT, job.result()));
    if (job.failure() != null) {
      Failure.Cause root = job.failure().root();
      line(
          job.state() == JobState.FAILED ? "failure" : "last failure",
          root.code() + " (" + job.failure().category() + ")");
      line("", root.message());
      if (job.failure().cause() != null) {
        line("", job.failure().code() + ": no attempt is left");
      }
    }
    if (!detail.attempts().isEmpty()) {
      Table table = new Table("ATTEMPT", "OUTCOME", "STARTED", "ENDED", "WORKER", "FAILURE");
      for (JobDetail.Reported each : detail.attempts()) {
        Attempt attempt = each.attempt();
        table.row(
            attempt.number(),
            attempt.outcome(),
            attempt.startedAt(),
            attempt.endedAt() == null ? "" : attempt.endedAt(),
            attempt.worker(),
            attempt.failure() == null ? "" : attempt.failure().code());
      }
      Terminal.println();
      Terminal.print(table);
    }
    if (!detail.artifacts().isEmpty()) {
      Table table = new Table("ARTIFACT", "SIZE", "SHA256", "PUBLISHED");
      for (PublishedArtifact published : detail.artifacts()) {
        Artifact artifact = published.artifact();
        table.row(
            "results/" + job.id() + "/" + artifact.name(),
            Shown.bytes(artifact.size()),
            artifact.sha256().substring(0, 12),
            published.publishedAt());
      }
      Terminal.println();
      Terminal.print(table);
    }
    Terminal.println();
    brief(timeline).forEach(Terminal::println);
  }

  private static void lines(JobStatus job, JobDependencies dependencies) {
    OpenWait open = job.waitsFor();
    if (open != null) {
      line("waits for", open.text() + (open.until() == null ? "" : ", until " + open.until()));
      return;
    }
    if (job.state() == JobState.WAITING) {
      some(dependencies.waitsFor()).forEach(each -> line("waits for", each));
    } else {
      some(dependencies.dependsOn()).forEach(each -> line("ran after", each));
    }
    some(dependencies.dependents()).forEach(each -> line("before", each));
  }

  private static List<String> some(List<JobDependencies.Related> jobs) {
    List<String> lines = new ArrayList<>();
    jobs.stream()
        .limit(MOST_RELATED)
        .forEach(each -> lines.add(each.id() + " " + each.kind() + " " + each.state()));
    if (jobs.size() > MOST_RELATED) {
      lines.add("… " + (jobs.size() - MOST_RELATED) + " more");
    }
    return lines;
  }

  private static void lines(JobAttributes attributes) {
    line("asset", attributes.assetId());
    line("partition", attributes.partitionKey());
    line("resources", attributes.resources().equals(Json.EMPTY) ? null : attributes.resources());
    line("trace", attributes.traceparent());
    line("tags", attributes.tags().isEmpty() ? null : String.join(" ", attributes.tags()));
  }

  /** The timeline without the middle of long progress. */
  private static List<String> brief(List<JobEvent> timeline) {
    List<String> lines = new ArrayList<>();
    int hidden = 0;
    for (int i = 0; i < timeline.size(); i++) {
      boolean inside =
          i > 0
              && i + 1 < timeline.size()
              && isProgress(timeline, i - 1)
              && isProgress(timeline, i + 1);
      if (inside && isProgress(timeline, i)) {
        hidden++;
        continue;
      }
      if (hidden > 0) {
        lines.add("              … " + hidden + " more");
        hidden = 0;
      }
      lines.add(Watch.line(timeline.get(i)));
    }
    return lines;
  }

  private static boolean isProgress(List<JobEvent> timeline, int index) {
    return timeline.get(index).type().equals(EventType.PROGRESS);
  }

  private static @Nullable Object readable(JobStatus job, String part, @Nullable Object value) {
    return job.omitted().contains(part) ? "(too large for the database to return)" : value;
  }

  private static void line(String name, @Nullable Object value) {
    if (value != null) {
      Terminal.printf("  %-12s  %s%n", name, Terminal.oneLine(value.toString()));
    }
  }
}
