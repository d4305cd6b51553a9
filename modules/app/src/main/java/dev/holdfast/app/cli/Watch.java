package dev.holdfast.app.cli;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Follows one job until it ends: prints new events of its timeline and draws a progress bar. */
public final class Watch {
  private static final Duration LOOK = Duration.ofMillis(250);
  private static final Duration UNTIL_HINT = Duration.ofSeconds(5);
  private static final int BAR = 30;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneId.systemDefault());

  private final Operator operator;
  private final boolean json;
  // Only a terminal can redraw a line. The launcher says whether standard output is one; the
  // meaning of System.console() differs between versions of Java.
  private final boolean terminal = Boolean.getBoolean("holdfast.terminal");
  private int seen;
  private int looks;
  private String drawn = "";

  public Watch(Operator operator, boolean json) {
    this.operator = operator;
    this.json = json;
  }

  public int follow(JobId id) throws InterruptedException {
    while (true) {
      JobDetail detail =
          operator
              .jobs()
              .show(id, JobDetail.Part.EVENTS)
              .orElseThrow(() -> new CommandException(ExitCode.NOT_FOUND, "there is no job " + id));
      JobStatus job = detail.job();
      tell(detail.events());
      if (job.state().isTerminal()) {
        return end(job);
      }
      bar(job);
      hint(job);
      Thread.sleep(LOOK);
    }
  }

  /** Otherwise the watch of a job that no worker claims would print nothing. */
  private void hint(JobStatus job) {
    boolean waits =
        job.state() == JobState.PENDING
            && job.attempt() == 0
            && job.runAt().isBefore(Instant.now());
    if (waits && ++looks == UNTIL_HINT.dividedBy(LOOK)) {
      Terminal.error(
          "holdfast: no worker has claimed the job yet: does one serve queue '"
              + job.queue()
              + "', and is the queue paused? See 'holdfast queues list'");
    }
  }

  private void tell(List<JobEvent> events) {
    List<JobEvent> fresh = events.stream().filter(event -> event.number() > seen).toList();
    for (int i = 0; i < fresh.size(); i++) {
      JobEvent event = fresh.get(i);
      seen = event.number();
      if (json) {
        Shown.printLine(event);
      } else if (!isProgress(event)
          || (!terminal && (i + 1 == fresh.size() || !isProgress(fresh.get(i + 1))))) {
        wipe();
        Terminal.println(line(event));
      }
    }
  }

  /** Progress is on the bar, if there is one; else the last report of those since the last look. */
  private static boolean isProgress(JobEvent event) {
    return event.type().equals("progress");
  }

  public static String line(JobEvent event) {
    String data = event.data().text().equals("{}") ? "" : Terminal.oneLine(event.data().text());
    return "%s  %3d  %-16s  %s"
        .formatted(TIME.format(event.at()), event.number(), event.type(), data)
        .stripTrailing();
  }

  private void bar(JobStatus job) {
    Integer percent = job.progress();
    if (json || !terminal || job.state() != JobState.RUNNING || percent == null) {
      return;
    }
    int full = percent * BAR / 100;
    String message = job.progressMessage() == null ? "" : Terminal.oneLine(job.progressMessage());
    String text =
        "[" + "█".repeat(full) + "·".repeat(BAR - full) + "] " + percent + " %  " + message;
    if (text.equals(drawn)) {
      return;
    }
    wipe();
    Terminal.draw(text);
    drawn = text;
  }

  private void wipe() {
    if (!drawn.isEmpty()) {
      Terminal.wipe(drawn);
      drawn = "";
    }
  }

  private int end(JobStatus job) {
    wipe();
    if (json) {
      Shown.printLine(job);
    } else {
      Terminal.println(job.id() + " " + job.state() + summary(job));
    }
    return job.state() == JobState.SUCCEEDED ? ExitCode.OK : ExitCode.JOB_NOT_SUCCEEDED;
  }

  private static String summary(JobStatus job) {
    @Nullable String result = job.result() == null ? null : job.result().text();
    if (job.failure() != null && job.state() == JobState.FAILED) {
      return ": " + job.failure().code() + ", " + Terminal.oneLine(job.failure().message());
    }
    return result == null ? "" : "  " + Terminal.oneLine(result);
  }
}
