package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.Script;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handlers, and what they do when they are cancelled. */
class HandlersTest extends Guide {
  record Render(Path source, int frames, boolean deaf) {}

  private static final class Smtp {
    private final List<String> sent = new ArrayList<>();

    void send(String to, String subject) {
      sent.add(to + ": " + subject);
    }
  }

  @TempDir Path folder;
  private final Smtp smtp = new Smtp();
  private String encoder = "";

  private WorkerBuilder mailer() {
    return holdfast
        .worker("mail")
        // region handler
        .handle(
            "send-mail",
            Mail.class,
            (mail, context) -> {
              smtp.send(mail.to(), mail.subject());
              return null;
            })
        // endregion
        .concurrency(1);
  }

  @Test
  void a_handler_gets_its_payload() {
    JobId id = enqueue(Job.of("send-mail", new Mail("ada@example.org", "Hello")).queue("mail"));
    mailer().drain();
    assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
    assertThat(status(id).result()).isNull();
    assertThat(smtp.sent).containsExactly("ada@example.org: Hello");
  }

  // region render
  Object render(Render render, JobContext context) throws Exception {
    Process process = new ProcessBuilder(encoder, render.source().toString()).start();
    context.onCancel(process::destroy); // a callback, for work that no interrupt reaches
    for (int frame = 0; frame < render.frames(); frame++) {
      context.checkCancelled(); // a check: leaves the handler when it should stop
      renderFrame(render, frame); // an interrupt: ends whatever blocks in here
      context.progress(100 * frame / render.frames(), "frame " + frame);
    }
    context.event("encoded", Map.of("frames", render.frames()));
    return Map.of("frames", render.frames());
  }

  // endregion

  private static void renderFrame(Render render, int frame) throws InterruptedException {
    if (frame < 1_000) {
      return;
    }
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException told) {
      if (!render.deaf()) {
        throw told;
      }
    }
  }

  private WorkerBuilder renderer() {
    return holdfast.worker("media").handle("render", Render.class, this::render);
  }

  @Test
  void a_handler_reports_progress_events_and_its_result() throws Exception {
    encoder = Script.write(folder.resolve("encode"), "#!/bin/sh\n").toString();
    JobId id = enqueue(Job.of("render", new Render(folder, 10, false)).queue("media"));
    renderer().drain();
    assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
    assertThat(String.valueOf(status(id).result())).isEqualTo("{\"frames\": 10}");
    assertThat(timeline(id)).contains("progress").containsSubsequence("encoded", "done");
  }

  @Test
  void a_cancel_stops_a_handler_and_its_program() throws Exception {
    encoder =
        Script.write(folder.resolve("encode"), "#!/bin/sh\necho $$ >\"$1\"\nexec sleep 600\n")
            .toString();
    Path interrupted = folder.resolve("interrupted");
    Path checked = folder.resolve("checked");
    JobId first = enqueue(Job.of("render", new Render(interrupted, 2_000, false)).queue("media"));
    JobId second = enqueue(Job.of("render", new Render(checked, 2_000, true)).queue("media"));
    try (Worker worker = renderer().start()) {
      long one = pid(interrupted);
      long two = pid(checked);
      holdfast.cancel(first, "no longer needed");
      holdfast.cancel(second, "no longer needed");
      await(first, JobState.CANCELLED);
      await(second, JobState.CANCELLED);
      until(() -> !Living.is(one) && !Living.is(two));
      assertThat(worker.name()).startsWith("worker:media:0@");
    }
    assertThat(timeline(second)).doesNotContain("encoded");
  }

  private static long pid(Path file) throws Exception {
    until(() -> Files.exists(file) && Files.readString(file).endsWith("\n"));
    return Long.parseLong(Files.readString(file).strip());
  }
}
