package dev.holdfast.sdk;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.wait.Question;
import dev.holdfast.worker.handler.Approval;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.JobContext;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The kind {@code script} of the conformance kit: a handler that waits as its payload says. */
final class ConformanceScript {
  record Script(@JsonProperty("do") List<Operation> operations) {}

  /** What is given depends on {@code op}. */
  record Operation(
      String op,
      @Nullable String id,
      @Nullable Long ms,
      @Nullable Integer until,
      @Nullable String name,
      @Nullable Long withinMs,
      @Nullable String text,
      @Nullable String kind,
      @Nullable JsonNode payload,
      @Nullable List<JsonNode> items,
      @Nullable List<String> of,
      @Nullable Boolean collect) {}

  /** Appends to the journal. */
  interface Note {
    void write(String word, JobContext context) throws IOException;
  }

  private record StepResult(String step, int attempt) {}

  private record Approved(boolean approved, @Nullable String by, String comment) {}

  private final JobContext context;
  private final Note note;
  private final Map<String, List<Child>> children = new HashMap<>();

  private ConformanceScript(JobContext context, Note note) {
    this.context = context;
    this.note = note;
  }

  static Object run(Script script, JobContext context, Note note) throws IOException {
    note.write("begin", context);
    ConformanceScript run = new ConformanceScript(context, note);
    boolean careless = script.operations().stream().anyMatch(each -> each.op().equals("careless"));
    List<@Nullable Object> results = new ArrayList<>();
    for (Operation each : script.operations()) {
      results.add(careless ? run.carelessly(each) : run.result(each));
    }
    return results;
  }

  private @Nullable Object carelessly(Operation operation) {
    try {
      return result(operation);
    } catch (Throwable swallowed) {
      return null;
    }
  }

  private @Nullable Object result(Operation it) {
    return switch (it.op()) {
      case "step" -> step(given(it.id()));
      case "sleep" -> {
        context.sleep(given(it.id()), Duration.ofMillis(given(it.ms())));
        yield null;
      }
      case "await" -> await(it);
      case "approve" -> {
        Approval found = context.approve(given(it.id()), Question.of(given(it.text())));
        yield new Approved(found.approved(), found.by(), found.comment());
      }
      case "spawn" -> {
        Child child = context.spawn(given(it.id()), Job.of(given(it.kind()), given(it.payload())));
        children.put(given(it.id()), List.of(child));
        yield null;
      }
      case "map" ->
          context.map(
              given(it.id()),
              given(it.items()),
              item -> Job.of("echo", item),
              PayloadType.of(JsonNode.class));
      case "join" -> join(it);
      case "pause" -> {
        if (attempt() < given(it.until())) {
          LockSupport.parkNanos(Duration.ofMillis(given(it.ms())).toNanos());
        }
        yield null;
      }
      case "continueAs" -> context.continueAs(given(it.payload()));
      case "careless" -> null;
      default -> throw new IllegalArgumentException("there is no operation " + it.op());
    };
  }

  private StepResult step(String id) {
    return context.step(
        id,
        StepResult.class,
        () -> {
          note.write("step:" + id, context);
          return new StepResult(id, attempt());
        });
  }

  private @Nullable Object await(Operation it) {
    String name = given(it.name());
    Long within = it.withinMs();
    Optional<JsonNode> found =
        context.await(
            it.id() == null ? name : it.id(),
            name,
            PayloadType.of(JsonNode.class),
            within == null ? null : Duration.ofMillis(within));
    return found.orElse(null);
  }

  private Object join(Operation it) {
    List<Child> all =
        given(it.of()).stream().flatMap(each -> given(children.get(each)).stream()).toList();
    JobContext.Join how =
        Boolean.TRUE.equals(it.collect()) ? JobContext.Join.COLLECT : JobContext.Join.FAIL_FAST;
    return context.join(given(it.id()), all, how).stream().map(ChildEnd::state).toList();
  }

  private int attempt() {
    return context.lease().attempt();
  }

  private static <T> T given(@Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException("the operation has too few fields");
    }
    return value;
  }
}
