package dev.holdfast.app.demo;

import dev.holdfast.Holdfast;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobStore;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs jobs of several kinds, kills a worker and cancels a job meanwhile, and prints what happens.
 * It checks at the end that each job ended as it should.
 */
public final class Demo {
  public static final String QUEUE = "demo";
  public static final String AGENT = "demo-agent";
  public static final String RISKY = "demo-risky";

  private static final int PIPELINES = 6;
  private static final int CLIPS = 3;
  private static final Duration LOOK = Duration.ofMillis(200);

  /** What each event means to a reader who does not know the documents. */
  private static final Map<String, String> MEANINGS =
      Map.of(
          EventType.REQUEUED_STALE, "its worker is gone; it was requeued",
          EventType.RESUME_FROM_STEP, "continues after the completed steps",
          EventType.HEAL_TRIGGERED, "a step is stuck; it is tried again",
          EventType.HEAL_ESCALATED, "the same failure again: it starts over in a new workspace",
          EventType.CANCEL_REQUESTED, "is asked to stop",
          EventType.CANCELLED, "has stopped, as requested",
          EventType.DONE, "done",
          EventType.FAILED, "is given up");

  /** A job of the demo and how it has to end. */
  private record Part(String name, JobState ending) {}

  private final JobStore store;
  private final Holdfast holdfast;
  private final String supervisor;
  private final URI url;
  private final boolean stays;
  private final Map<JobId, Part> parts = new LinkedHashMap<>();
  private final Map<JobId, Integer> told = new HashMap<>();
  private final long start = System.nanoTime();
  private @Nullable JobId endless;
  private long killed;

  /**
   * @param url of the server
   * @param stays whether the server is still there when the play is over, for links
   */
  public Demo(Holdfast holdfast, String supervisor, URI url, boolean stays) {
    this.holdfast = holdfast;
    this.store = holdfast.store();
    this.supervisor = supervisor;
    this.url = url;
    this.stays = stays;
  }

  /** False when a job did not end as it had to, or not in time. */
  public boolean play(DemoStage stage, Signals signals, Duration timeout)
      throws InterruptedException {
    submit(stage);
    boolean hasKilled = false;
    boolean cancelled = false;
    while (!isOver() && since().compareTo(timeout) < 0) {
      if (signals.await(LOOK.toMillis())) {
        return false;
      }
      if (!hasKilled) {
        hasKilled = kill();
      } else if (!cancelled) {
        cancelled = cancel();
      }
      tell();
    }
    tell();
    return sum();
  }

  // ---- jobs

  private void submit(DemoStage stage) {
    // Created before the first job is enqueued, so that all jobs run at the same time.
    Path video = stage.video();
    Path repository = stage.repository();
    say("enqueueing jobs:");
    for (int i = 1; i <= PIPELINES; i++) {
      add(
          "pipeline " + i,
          Job.of(DemoKinds.PIPELINE, new DemoKinds.Source("document " + i)),
          JobState.SUCCEEDED);
    }
    for (int i = 1; video != null && i <= CLIPS; i++) {
      add(
          "clip " + i,
          Job.of(DemoKinds.CLIP, new DemoKinds.Cut(video.toString(), i)),
          JobState.SUCCEEDED);
    }
    if (repository != null) {
      add("agent", Job.of("workspace", workspace(repository)).queue(AGENT), JobState.SUCCEEDED);
    }
    endless = add("endless", Job.of(DemoKinds.ENDLESS), JobState.CANCELLED);
    add("toxic", Job.of(DemoKinds.TOXIC).queue(RISKY), JobState.FAILED);
    say("  " + PIPELINES + " pipelines of four steps");
    say(
        video == null
            ? "  no clips: ffmpeg is not installed here"
            : "  " + CLIPS + " clips cut by ffmpeg");
    say(
        repository == null
            ? "  no agent: git is not installed here"
            : "  an agent that edits a repository; it will hang once, then loop");
    say("  one job that never ends, one that kills its worker each time it runs");
    say("watch them at " + url + (stays ? "" : " while this runs"));
    Terminal.println();
  }

  private static Map<String, Object> workspace(Path repository) {
    return Map.of(
        "objective", "A script that greets people, with instructions",
        "repository", Map.of("url", repository.toString(), "ref", "main"),
        "steps",
            List.of(
                step("write", "Write the script"),
                step("document", "Write the instructions"),
                step("check", "See that it works")));
  }

  private static Map<String, String> step(String id, String title) {
    return Map.of("id", id, "title", title, "instructions", title, "runtime", "agent");
  }

  private JobId add(String name, Job job, JobState ending) {
    Job placed = job.queue().equals(Job.DEFAULT_QUEUE) ? job.queue(QUEUE) : job;
    JobId id = holdfast.enqueue(placed).id();
    parts.put(id, new Part(name, ending));
    return id;
  }

  // ---- faults

  /**
   * Kills the process that runs the pipelines and the endless job; false until it runs all of them
   * and each pipeline has completed a step.
   */
  private boolean kill() {
    if (!parts.keySet().stream().map(this::status).allMatch(Demo::isUnderWay)) {
      return false;
    }
    String component = WorkerHealth.component(QUEUE, 0);
    for (WorkerHealth row : store.workers().readings().of(supervisor)) {
      Long pid = row.pid();
      if (row.component().equals(component)
          && row.status() == HealthStatus.HEALTHY
          && pid != null) {
        say("!! kill -9 of " + component + " (pid " + pid + "), with all its jobs");
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        killed = pid;
        return true;
      }
    }
    return false;
  }

  /** Whether a kill of its worker would show something; true also of a job that is over. */
  private static boolean isUnderWay(JobStatus status) {
    Integer progress = status.progress();
    return switch (status.kind()) {
      case DemoKinds.PIPELINE ->
          status.state().isTerminal() || (progress != null && progress >= DemoKinds.FIRST_STEP);
      case DemoKinds.ENDLESS -> status.state() == JobState.RUNNING;
      default -> true;
    };
  }

  /** False until the endless job runs again, no longer on the worker that was killed. */
  private boolean cancel() {
    if (endless == null) {
      return false;
    }
    JobStatus status = status(endless);
    String worker = status.worker();
    if (status.state() == JobState.RUNNING
        && worker != null
        && !worker.contains("." + killed + ".")) {
      say("!! the job that never ends is cancelled");
      store.jobs().cancel(List.of(endless), false, "the demo is over soon", Tenant.ANY);
      return true;
    }
    return false;
  }

  // ---- output

  private void tell() {
    parts.forEach(
        (id, part) -> {
          for (JobEvent event : store.queries().timeline(id)) {
            if (event.number() > told.getOrDefault(id, 0)) {
              told.put(id, event.number());
              tell(part, id, event);
            }
          }
        });
  }

  private void tell(Part part, JobId id, JobEvent event) {
    String words = MEANINGS.get(event.type());
    if (words == null) {
      return;
    }
    String why = "";
    if (event.type().equals(EventType.FAILED)) {
      Failure failure = status(id).failure();
      why = failure == null ? "" : ": " + failure.code() + ", " + failure.message();
    }
    say("%-11s %s%s".formatted(part.name(), words, Terminal.oneLine(why)));
  }

  private boolean isOver() {
    return parts.keySet().stream().allMatch(id -> status(id).state().isTerminal());
  }

  private JobStatus status(JobId id) {
    return store.queries().find(id).orElseThrow();
  }

  /** Nothing was lost, and nothing was done twice: counted in the database. */
  private boolean sum() {
    int asExpected = 0;
    int twice = 0;
    Table table = new Table("JOB", "ENDED", "ATTEMPTS", "CRASHES", stays ? "SEE" : "ID");
    for (Map.Entry<JobId, Part> each : parts.entrySet()) {
      JobStatus status = status(each.getKey());
      asExpected += status.state() == each.getValue().ending() ? 1 : 0;
      twice +=
          store.queries().timeline(each.getKey()).stream()
                      .filter(event -> event.type().equals(EventType.DONE))
                      .count()
                  > 1
              ? 1
              : 0;
      table.row(
          each.getValue().name(),
          status.state().name(),
          Integer.toString(status.attempt()),
          Integer.toString(status.crashes()),
          (stays ? url + "/#/jobs/" : "") + each.getKey());
    }
    Terminal.println();
    Terminal.print(table);
    Terminal.println();
    say(
        "%d jobs enqueued, %d ended as expected, %d lost, %d run twice"
            .formatted(parts.size(), asExpected, parts.size() - asExpected, twice));
    return asExpected == parts.size() && twice == 0;
  }

  private Duration since() {
    return Duration.ofNanos(System.nanoTime() - start);
  }

  private void say(String words) {
    Terminal.printf("%5.1f s  %s%n", since().toMillis() / 1000.0, words);
  }
}
