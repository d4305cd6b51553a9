package dev.holdfast.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Invalid requests are answered with their error, and no job changes. */
public class BadInputTest extends ServerTest {
  BadInputTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    // No lease may expire while the cases run.
    return options ->
        options
            .dispatchTo(Set.of("good.example"))
            .timings(
                new Timings(
                    Duration.ofMinutes(10),
                    Duration.ofHours(1),
                    Duration.ZERO,
                    Duration.ofHours(1)));
  }

  @TestFactory
  Stream<DynamicTest> invalid_input_is_rejected_with_its_error_name_and_changes_nothing() {
    Bench bench = new Bench(this);
    List<BadCase> cases =
        Stream.of(
                BadTokens.all(bench),
                BadBodies.all(bench),
                BadWorkerBodies.all(bench),
                BadRequests.all(bench),
                BadSettings.all(bench))
            .flatMap(List::stream)
            .toList();
    assertThat(cases).hasSizeGreaterThan(150);
    AtomicReference<String> known = new AtomicReference<>(bench.everything());
    return cases.stream()
        .map(
            each ->
                dynamicTest(
                    each.name(),
                    () -> {
                      Client.Reply reply = each.request().get().is(each.status(), each.error());
                      assertThat(reply.body().get("message").asText())
                          .doesNotContain("Exception", "dev.holdfast", "java.", "SQL:", "\0");
                      String now = bench.everything();
                      assertThat(now).isEqualTo(known.getAndSet(now));
                    }));
  }
}
