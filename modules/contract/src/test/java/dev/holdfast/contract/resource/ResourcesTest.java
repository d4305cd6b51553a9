package dev.holdfast.contract.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.value.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResourcesTest {
  private static final List<String> OMITTED =
      List.of(JobStatus.PAYLOAD, JobStatus.RESULT, JobStatus.STACK_TRACE);

  private static final Pause PAUSE =
      new Pause(Instant.parse("2026-11-15T10:05:00Z"), "ada", "deploying");

  private static Map<String, Object> resources() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("fullJob", Samples.fullJob());
    all.put("bareJob", Samples.bareJob(List.of(), null));
    all.put("bareJobFailed", Samples.bareJob(List.of(), Samples.failure(null)));
    all.put("omitted", Samples.bareJob(OMITTED, Samples.failure("s")));
    all.put("artifact", Samples.artifact());
    all.put("artifactOfJob", artifacts());
    all.put("stepFull", Samples.step(true));
    all.put("stepBare", Samples.step(false));
    all.put("none", PendingCommand.NONE);
    all.put("retry", Samples.commands(CommandAction.RETRY_STEP));
    all.put(
        "reset",
        new JobOperator.Commanded(
            Samples.commands(CommandAction.HARD_RESET_STEP), List.of("a", "b")));
    all.put(
        "accept",
        new JobOperator.Commanded(Samples.commands(CommandAction.ACCEPT_STEP), List.of()));
    all.put("event", Samples.event());
    all.put("log", Samples.log());
    all.put("logEmpty", new LogTail(List.of(), LogCursor.START, false));
    all.put("attempt", Samples.attempt(Samples.failure("s")));
    all.put("attemptBare", new JobDetail.Reported(Samples.attempt(null), null));
    all.put("attemptTold", new JobDetail.Reported(Samples.attempt(null), Samples.told(true)));
    all.put("attemptToldBare", new JobDetail.Reported(Samples.attempt(null), Samples.told(false)));
    all.put("enqueued", new Enqueued(Samples.ID, true));
    all.put("cancellation", cancellation());
    all.put("worker", Samples.worker(true));
    all.put("workerBare", Samples.worker(false));
    all.put("command", Samples.workerCommand());
    all.put("key", Samples.key(true));
    all.put("keyBare", Samples.key(false));
    all.put("queue", new QueueOperator.View(Samples.queue(true), PAUSE, null, null));
    all.put("queueBare", new QueueOperator.View(Samples.queue(false), null, null, true));
    all.put("schedule", new ScheduleOperator.View(Samples.schedule(true), PAUSE));
    all.put("scheduleBare", new ScheduleOperator.View(Samples.schedule(false), null));
    all.put("history", Samples.history());
    all.put("statistics", Samples.statistics());
    return all;
  }

  /** Where its file is, and what the job's result is, are not for an operator. */
  private static JobDetailResource artifacts() {
    PublishedArtifact stored =
        new PublishedArtifact(
            Samples.artifact().artifact(), 2, "folder:1", Samples.AT, new Json("1"));
    return new JobDetailResource(null, null, null, null, null, List.of(stored), null);
  }

  private static Cancellation cancellation() {
    return new Cancellation(Samples.ID, JobState.RUNNING, Cancellation.Outcome.REQUESTED);
  }

  /** Names of samples, and the JSON that each must have: name, space, JSON. */
  static Stream<String> lines() throws IOException {
    try (InputStream file =
        Objects.requireNonNull(ResourcesTest.class.getResourceAsStream("resources.txt"))) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("lines")
  void every_resource_is_written_as_documented(String line) {
    String name = line.substring(0, line.indexOf(' '));
    assertThat(Wire.text(Objects.requireNonNull(resources().get(name), name)))
        .isEqualTo(line.substring(name.length() + 1));
  }

  @Test
  void every_sample_has_a_documented_line() throws IOException {
    assertThat(lines().map(line -> line.substring(0, line.indexOf(' '))))
        .containsExactlyElementsOf(resources().keySet());
  }

  private static <R, T> void reads(T value, Function<T, R> write, Function<R, T> read)
      throws IOException {
    R written = write.apply(value);
    @SuppressWarnings("unchecked")
    Class<R> type = (Class<R>) written.getClass();
    assertThat(read.apply(Wire.answer(Wire.write(written), type))).isEqualTo(value);
  }

  @Test
  void resources_round_trip() throws IOException {
    reads(Samples.bareJob(List.of(), null), each -> each, each -> each);
    reads(Samples.bareJob(List.of(), Samples.failure("s")), each -> each, each -> each);
    reads(Samples.bareJob(OMITTED, Samples.failure(null)), each -> each, each -> each);
    reads(Samples.artifact(), each -> each, each -> each);
    reads(Samples.step(false), each -> each, each -> each);
    reads(new JobEvent(1, "created", 0, Samples.AT, Json.EMPTY), each -> each, each -> each);
    reads(Samples.log(), each -> each, each -> each);
    reads(PendingCommand.NONE, each -> each, each -> each);
    for (CommandAction action : CommandAction.values()) {
      reads(Samples.commands(action), each -> each, each -> each);
      reads(
          new JobOperator.Commanded(Samples.commands(action), List.of("a")),
          each -> each,
          each -> each);
    }
    for (boolean full : new boolean[] {true, false}) {
      reads(Samples.key(full), each -> each, each -> each);
      reads(
          new QueueOperator.View(Samples.queue(full), full ? PAUSE : null, null, null),
          each -> each,
          each -> each);
    }
    reads(Samples.attempt(null), each -> each, each -> each);
    reads(Samples.attempt(Samples.failure("s")), each -> each, each -> each);
    reads(new Enqueued(Samples.ID, true), each -> each, each -> each);
    reads(cancellation(), each -> each, each -> each);
    reads(Samples.worker(false), each -> each, each -> each);
    reads(Samples.workerCommand(), each -> each, each -> each);
    reads(new ScheduleOperator.View(Samples.schedule(false), PAUSE), each -> each, each -> each);
    for (ReportedCompletion told : Arrays.asList(Samples.told(false), null)) {
      reads(new JobDetail.Reported(Samples.attempt(null), told), each -> each, each -> each);
    }
    reads(Samples.history(), each -> each, each -> each);
    reads(Samples.statistics(), each -> each, each -> each);
  }

  @Test
  void stored_json_is_read_with_all_its_digits() throws IOException {
    JobStatus job = Wire.answer(Wire.write(Samples.fullJob()), JobStatus.class);
    assertThat(job.payload().text()).isEqualTo("{\"a\":1.10,\"b\":[null,1E+400]}");
    assertThat(job.attributes().resources().text()).isEqualTo("{\"cpu\":2}");
    assertThat(job.failure()).isEqualTo(Samples.failure("at x"));
  }

  @Test
  void fields_of_a_newer_server_are_ignored() throws IOException {
    byte[] enqueued =
        "{\"id\":\"%s\",\"duplicate\":true,\"new\":1}"
            .formatted(Samples.ID)
            .getBytes(StandardCharsets.UTF_8);
    assertThat(Wire.answer(enqueued, Enqueued.class)).isEqualTo(new Enqueued(Samples.ID, true));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"duplicate\":true}", "{\"id\":\"%s\"}"})
  void a_response_without_a_required_field_is_refused(String text) {
    byte[] enqueued = text.formatted(Samples.ID).getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> Wire.answer(enqueued, Enqueued.class)).isInstanceOf(IOException.class);
  }
}
