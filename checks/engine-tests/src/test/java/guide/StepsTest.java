package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.StepException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Code steps, of docs/self-heal.md. */
class StepsTest extends Guide {
  record Book(String title) {}

  record Text(String words) {}

  record Vectors(int size) {}

  private final List<String> done = Collections.synchronizedList(new ArrayList<>());
  private JobId lost;

  private Text fetch(Book book) {
    done.add("fetch " + book.title());
    return new Text("the text of " + book.title());
  }

  private Vectors embed(Text text, Runnable alive) {
    done.add("embed " + text.words());
    alive.run();
    if (text.words().endsWith("Forbidden")) {
      throw new StepException(FailureClass.DETERMINISTIC_POLICY, "this book must not be read");
    }
    if (text.words().endsWith("Flaky") && Collections.frequency(done, done.getLast()) == 1) {
      throw new IllegalStateException("the model is busy");
    }
    if (text.words().endsWith("Lost") && Collections.frequency(done, done.getLast()) == 1) {
      takeAway(lost);
      throw new IllegalStateException("its worker is gone");
    }
    return new Vectors(text.words().length());
  }

  private void store(Book book, Vectors vectors) {
    done.add("store " + vectors.size() + " of " + book.title());
  }

  // region steps
  Object ingest(Book book, JobContext context) {
    Text text = context.step("fetch", Text.class, () -> fetch(book));
    Vectors vectors = context.step("embed", Vectors.class, () -> embed(text, context::alive));
    context.step("store", () -> store(book, vectors));
    return vectors.size();
  }

  // endregion

  private JobId ingested(String title, JobState end) {
    JobId id = lost = enqueue(Job.of("ingest", new Book(title)).queue("ingest"));
    try (Worker worker =
        holdfast.worker("ingest").handle("ingest", Book.class, this::ingest).start()) {
      await(id, end);
      assertThat(worker.name()).startsWith("worker:ingest:0@");
    }
    return id;
  }

  @Test
  void the_next_attempt_continues_from_the_checkpoint() {
    JobId id = ingested("Lost", JobState.SUCCEEDED);
    assertThat(status(id).attempt()).isEqualTo(2);
    assertThat(done)
        .filteredOn(step -> step.contains("Lost"))
        .containsExactly(
            "fetch Lost", "embed the text of Lost", "embed the text of Lost", "store 16 of Lost");
    assertThat(String.valueOf(status(id).result())).isEqualTo("16");
  }

  @Test
  void a_failed_step_is_retried_in_place() {
    JobId id = ingested("Flaky", JobState.SUCCEEDED);
    assertThat(status(id).attempt()).isEqualTo(1);
    assertThat(timeline(id))
        .containsSubsequence(
            "task.step.attempt.failed", "task.self_heal.triggered", "task.step.attempt.finished");
    assertThat(done).filteredOn("fetch Flaky"::equals).hasSize(1);
  }

  @Test
  void a_step_with_a_non_retryable_failure_fails_its_job_at_once() {
    JobId id = ingested("Forbidden", JobState.FAILED);
    assertThat(failure(id).message()).contains("must not be read");
    assertThat(done).filteredOn("embed the text of Forbidden"::equals).hasSize(1);
  }
}
