package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JobOptions;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Watch;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.WhenDependencyFails;
import dev.holdfast.model.value.Json;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Hands in a job, or one for each line of a file. */
@Command(
    name = "enqueue",
    description = "Enqueue a job and print its id.",
    footer = {
      "",
      "Examples:",
      "  holdfast enqueue sleep '{\"seconds\": 3}' --watch",
      "  holdfast enqueue send-mail @mail.json --queue mail --delay 5m",
      "  holdfast enqueue ingest --each-line < payloads.ndjson"
    })
public final class EnqueueCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();

  @Parameters(index = "0", paramLabel = "KIND", description = "the kind of job")
  String kind = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "PAYLOAD",
      description = "JSON, @FILE, or - for standard input; default: {}")
  @Nullable String payload;

  @Mixin final JobOptions jobOptions = new JobOptions();

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      description = "start it no sooner than this, such as 90s or 2h")
  @Nullable String delay;

  @Option(
      names = "--run-at",
      paramLabel = "INSTANT",
      description = "start it then or later: 2030-12-31T23:59:00Z")
  @Nullable String runAt;

  @Option(
      names = "--deadline",
      paramLabel = "INSTANT",
      description = {"fail it if it has not ended by then,", "such as 2030-12-31T23:59:00Z"})
  @Nullable String deadline;

  @Option(
      names = "--unique-key",
      paramLabel = "KEY",
      description = "at most one unfinished job of this kind has this key")
  @Nullable String uniqueKey;

  @Option(
      names = "--concurrency-key",
      paramLabel = "KEY",
      description = "jobs of one queue, tenant and key take turns")
  @Nullable String concurrencyKey;

  @Option(
      names = "--key-limit",
      paramLabel = "N",
      description = "jobs of a concurrency key at once; default: 1")
  int keyLimit = 1;

  @Option(
      names = "--asset-id",
      paramLabel = "ID",
      description = "what the job makes; passed to its worker")
  @Nullable String assetId;

  @Option(
      names = "--partition-key",
      paramLabel = "KEY",
      description = "which part of it; passed to its worker")
  @Nullable String partitionKey;

  @Option(
      names = "--resources",
      paramLabel = "JSON",
      description = "what it needs, JSON or @FILE; passed to its worker")
  @Nullable String resources;

  @Option(
      names = "--traceparent",
      paramLabel = "TRACE",
      description = "trace it belongs to, as in W3C Trace Context")
  @Nullable String traceparent;

  @Option(
      names = {"-t", "--tag"},
      paramLabel = "TAG",
      description = "a word to find it by; may be given several times")
  List<String> tags = List.of();

  @Option(
      names = "--depends-on",
      split = ",",
      paramLabel = "ID",
      description = "wait until these jobs have ended")
  @Nullable List<String> dependsOn;

  @Option(
      names = "--if-failed",
      paramLabel = "WHAT",
      description = {"if one of --depends-on fails: ${COMPLETION-CANDIDATES};", "default: CANCEL"})
  WhenDependencyFails ifFailed = WhenDependencyFails.CANCEL;

  @Option(names = "--parent", paramLabel = "ID", description = "the job this one belongs to")
  @Nullable String parent;

  @Option(
      names = "--id",
      paramLabel = "UUID",
      description = "id of the job; the same id twice is one job")
  @Nullable String id;

  @Option(names = "--each-line", description = "one job for each line of the payload (NDJSON)")
  boolean eachLine;

  @Option(names = "--watch", description = "follow the job until it ends")
  boolean watch;

  @Option(names = "--json", description = "print JSON")
  boolean json;

  @Override
  public Integer call() throws InterruptedException {
    Settings settings = connection.settings();
    List<Job> jobs = payloads().stream().map(this::job).toList();
    try (Operator operator = connection.open(settings)) {
      List<Enqueued> enqueued = operator.jobs().enqueue(jobs);
      print(enqueued);
      return watch ? new Watch(operator, json).follow(enqueued.getLast().id()) : ExitCode.OK;
    }
  }

  private void print(List<Enqueued> enqueued) {
    if (json && watch) {
      enqueued.forEach(Shown::printLine);
    } else if (json) {
      Shown.print(enqueued);
    } else {
      for (Enqueued each : enqueued) {
        Terminal.println(each.id() + (each.duplicate() ? " (already enqueued)" : ""));
      }
    }
  }

  private Job job(Json payload) {
    Job job = jobOptions.job(kind, payload);
    job = delay == null ? job : job.delay(Input.duration("--delay", delay));
    job = runAt == null ? job : job.runAt(Input.instant("--run-at", runAt));
    job = deadline == null ? job : job.deadline(Input.instant("--deadline", deadline));
    job = uniqueKey == null ? job : job.uniqueKey(uniqueKey);
    job = concurrencyKey == null ? job : job.concurrencyKey(concurrencyKey, keyLimit);
    job = assetId == null ? job : job.assetId(assetId);
    job = partitionKey == null ? job : job.partitionKey(partitionKey);
    job = resources == null ? job : job.resources(Input.json("--resources", resources));
    job = traceparent == null ? job : job.traceparent(traceparent);
    job = tags.isEmpty() ? job : job.tags(tags);
    job =
        dependsOn == null
            ? job
            : job.dependsOn(dependsOn.stream().map(JobId::parse).toList(), ifFailed);
    job = parent == null ? job : job.parent(JobId.parse(parent));
    return id == null ? job : job.id(JobId.parse(id));
  }

  private List<Json> payloads() {
    if (!eachLine) {
      return List.of(payload == null ? Json.EMPTY : Input.json(payload));
    }
    List<Json> lines = Input.jsonLines(payload == null ? "-" : payload);
    if (lines.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, "--each-line found no lines to enqueue");
    }
    return lines;
  }
}
