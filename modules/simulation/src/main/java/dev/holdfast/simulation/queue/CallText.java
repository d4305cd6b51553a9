package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Arguments of calls as texts, and back. */
final class CallText {
  private static final String NONE = "-";

  private CallText() {}

  private static String join(Object... parts) {
    List<String> texts = new ArrayList<>();
    for (Object part : parts) {
      texts.add(String.valueOf(part));
    }
    return String.join("\t", texts);
  }

  // ---- leases

  static String of(Lease lease) {
    return JobSpec.number(lease.job()) + "#" + lease.attempt();
  }

  static Lease lease(String text) {
    int at = text.indexOf('#');
    return new Lease(
        JobSpec.id(Integer.parseInt(text.substring(0, at))),
        Integer.parseInt(text.substring(at + 1)));
  }

  private static String of(@Nullable Json json) {
    return json == null ? NONE : json.text();
  }

  private static @Nullable Json json(String text) {
    return text.equals(NONE) ? null : new Json(text);
  }

  private static String millis(@Nullable Duration duration) {
    return duration == null ? NONE : String.valueOf(duration.toMillis());
  }

  private static Duration duration(String millis) {
    return Duration.ofMillis(Long.parseLong(millis));
  }

  // ---- settlements

  static String of(Settlement settlement) {
    String lease = of(settlement.lease());
    return switch (settlement) {
      case Settlement.Succeed succeed -> join("succeed", lease, of(succeed.result()));
      case Settlement.Fail fail ->
          join(
              "fail",
              lease,
              fail.failure().category(),
              fail.failure().code(),
              oneLine(fail.failure().message()),
              fail.failure().retryable(),
              millis(fail.retryAfter()));
      case Settlement.Cancel cancel -> join("cancel", lease, of(cancel.partial()));
      case Settlement.Snooze snooze -> join("snooze", lease, millis(snooze.delay()));
      case Settlement.Release release -> join("release", lease, release.abortedByShutdown());
    };
  }

  static Settlement settlement(String text) {
    String[] part = text.split("\t", -1);
    Lease lease = lease(part[1]);
    return switch (part[0]) {
      case "succeed" -> new Settlement.Succeed(lease, json(part[2]));
      case "fail" ->
          new Settlement.Fail(
              lease,
              new Failure(
                  FailureCategory.valueOf(part[2]),
                  part[3],
                  part[4],
                  null,
                  Boolean.parseBoolean(part[5])),
              part[6].equals(NONE) ? Duration.ZERO : duration(part[6]));
      case "cancel" -> new Settlement.Cancel(lease, json(part[2]));
      case "snooze" -> new Settlement.Snooze(lease, duration(part[2]));
      case "release" -> new Settlement.Release(lease, Boolean.parseBoolean(part[2]));
      default -> throw new IllegalArgumentException(text);
    };
  }

  private static String oneLine(String text) {
    return text.replaceAll("[\\t\\n\\r]+", " ");
  }

  // ---- reports

  static String of(Report report) {
    String lease = of(report.lease());
    return switch (report) {
      case Report.Progress progress ->
          join(
              "progress",
              lease,
              progress.percent() == null ? NONE : progress.percent(),
              progress.message() == null ? NONE : oneLine(progress.message()));
      case Report.Event event -> join("event", lease, event.type(), of(event.data()));
      case Report.Log log -> join("log", lease, log.piece(), oneLine(log.text()));
      case Report.Step step -> {
        List<Object> parts =
            new ArrayList<>(
                List.of(
                    "step",
                    lease,
                    step.stepId(),
                    step.index(),
                    step.state(),
                    step.attempt(),
                    step.reset(),
                    of(step.checkpoint()),
                    step.discardFromIndex() == null ? NONE : step.discardFromIndex()));
        step.events()
            .forEach(
                entry -> {
                  parts.add(entry.type());
                  parts.add(of(entry.data()));
                });
        yield join(parts.toArray());
      }
    };
  }

  static Report report(String text) {
    String[] part = text.split("\t", -1);
    Lease lease = lease(part[1]);
    return switch (part[0]) {
      case "progress" ->
          new Report.Progress(
              lease,
              part[2].equals(NONE) ? null : Integer.valueOf(part[2]),
              part[3].equals(NONE) ? null : part[3]);
      case "event" -> new Report.Event(lease, part[2], new Json(part[3]));
      case "log" -> new Report.Log(lease, Integer.parseInt(part[2]), part[3]);
      case "step" -> step(lease, part);
      default -> throw new IllegalArgumentException(text);
    };
  }

  private static Report.Step step(Lease lease, String[] part) {
    List<Report.Entry> events = new ArrayList<>();
    for (int i = 9; i + 1 < part.length; i += 2) {
      events.add(new Report.Entry(part[i], new Json(part[i + 1])));
    }
    return new Report.Step(
        lease,
        part[2],
        Integer.parseInt(part[3]),
        StepState.valueOf(part[4]),
        Integer.parseInt(part[5]),
        Boolean.parseBoolean(part[6]),
        json(part[7]),
        null,
        part[8].equals(NONE) ? null : Integer.valueOf(part[8]),
        null,
        events);
  }

  // ---- artifacts

  static String of(Publication publication) {
    List<Object> parts = new ArrayList<>(List.of(of(publication.lease()), publication.store()));
    publication
        .artifacts()
        .forEach(
            each -> {
              parts.add(each.name());
              parts.add(each.sha256());
            });
    return join(parts.toArray());
  }

  static Publication publication(String text) {
    String[] part = text.split("\t", -1);
    List<Artifact> artifacts = new ArrayList<>();
    for (int i = 2; i + 1 < part.length; i += 2) {
      artifacts.add(new Artifact(part[i], 1, part[i + 1]));
    }
    return new Publication(lease(part[0]), part[1], artifacts, null);
  }
}
