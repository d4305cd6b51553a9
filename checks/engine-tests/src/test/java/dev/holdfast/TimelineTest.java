package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TimelineTest extends LibraryTest {
  record Step(int thread, int number) {}

  @Test
  void a_successful_job_has_its_events_in_one_order() {
    JobId id = enqueue(Job.of("clip"));
    start(
        worker()
            .handle(
                "clip",
                Json.class,
                (payload, context) -> {
                  context.event("source:ready", Map.of("bytes", 1024));
                  context.progress(30);
                  context.progress(60);
                  context.progress(100);
                  context.event("uploaded", Map.of("name", "clip.mp4"));
                  return "results/" + context.id() + "/clip.mp4";
                }));
    await(id, JobState.SUCCEEDED);
    List<JobEvent> timeline = holdfast.queries().timeline(id);
    assertThat(timeline)
        .extracting(JobEvent::type)
        .startsWith("created", "processing", "source:ready", "progress")
        .endsWith("progress", "uploaded", "done");
    assertThat(timeline)
        .extracting(JobEvent::number)
        .isEqualTo(IntStream.rangeClosed(1, timeline.size()).boxed().toList());
    assertThat(timeline.get(2).data().text()).contains("1024");
  }

  @Test
  void an_event_can_be_read_once_it_is_reported() {
    JobId id = enqueue(Job.of("telling"));
    List<List<String>> seen = new ArrayList<>();
    worker()
        .handle(
            "telling",
            Json.class,
            (payload, context) -> {
              context.event("one", 1);
              seen.add(timeline(context.id()));
              context.event("two", "zwei");
              seen.add(timeline(context.id()));
              return null;
            })
        .drain();
    assertThat(seen)
        .containsExactly(
            List.of("created", "processing", "one"),
            List.of("created", "processing", "one", "two"));
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void several_threads_of_one_handler_may_report_events() {
    JobId id = enqueue(Job.of("many"));
    worker()
        .handle(
            "many",
            Json.class,
            (payload, context) -> {
              try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < 8; i++) {
                  int thread = i;
                  threads.execute(
                      () -> {
                        for (int n = 0; n < 20; n++) {
                          context.event("step", new Step(thread, n));
                        }
                      });
                }
              }
              return null;
            })
        .drain();
    List<JobEvent> timeline = holdfast.queries().timeline(id);
    assertThat(timeline).hasSize(3 + 8 * 20);
    assertThat(timeline)
        .extracting(JobEvent::number)
        .isEqualTo(IntStream.rangeClosed(1, timeline.size()).boxed().toList());
    JacksonCodec codec = new JacksonCodec();
    for (int i = 0; i < 8; i++) {
      int thread = i;
      assertThat(
              timeline.stream()
                  .filter(event -> event.type().equals("step"))
                  .map(event -> codec.decode(event.data(), Step.class))
                  .filter(step -> step.thread() == thread)
                  .map(Step::number))
          .isEqualTo(IntStream.range(0, 20).boxed().toList());
    }
  }

  @Test
  void an_event_that_cannot_be_stored_is_refused_and_the_handler_may_continue() {
    JobId id = enqueue(Job.of("clumsy"));
    worker()
        .handle(
            "clumsy",
            Json.class,
            (payload, context) -> {
              assertRefused(Refusal.EVENT_NOT_JSON, () -> context.event("nul", "a\0b"));
              String large = "x".repeat(Limits.EVENT_BYTES);
              assertRefused(Refusal.EVENT_TOO_LARGE, () -> context.event("large", large));
              assertRefused(Refusal.BAD_NAME, () -> context.event("no spaces", ""));
              context.event("fine", "");
              return null;
            })
        .drain();
    assertThat(job(id).state()).as(String.valueOf(job(id).failure())).isEqualTo(JobState.SUCCEEDED);
    assertThat(timeline(id)).containsExactly("created", "processing", "fine", "done");
  }

  private static void assertRefused(Refusal refusal, Runnable telling) {
    assertThatThrownBy(telling::run)
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(refusal));
  }
}
