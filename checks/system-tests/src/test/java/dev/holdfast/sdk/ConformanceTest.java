package dev.holdfast.sdk;

import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The conformance kit of {@code sdk/conformance}: workers of the Java, Python, TypeScript and Go
 * libraries pass its scenarios, and a worker with a fault fails each of them. {@code ./test --all}
 * runs the quick ones, and {@code ./test --release} every one, a mix of jobs under kills, and the
 * benchmark.
 */
@OnlyWithAll
@ExtendWith(DatabaseExtension.class)
class ConformanceTest {
  private final TestDatabase database;

  ConformanceTest(TestDatabase database) {
    this.database = database;
  }

  @Test
  void every_library_passes_and_every_fault_is_found() {
    if (Extent.isRelease()) {
      kit("run", "--libraries", "--faulty", "--parallel", "16");
    } else {
      List<String> quick = List.of("--libraries", "--faulty", "--quick", "--parallel", "8");
      new SdkScript(SdkServer.shared(), "sdk/conformance/run", quick).run();
    }
  }

  /** What an earlier run left there, keys among it, does not hinder the next one. */
  @Test
  void the_kit_runs_again_on_the_same_database() {
    for (int run = 0; run < 2; run++) {
      kit("run", "--only", "echo", "--", "python3", "sdk/conformance/workers/plain_worker.py");
    }
  }

  /** The full size is described in the kit's README. */
  @Test
  @OnlyWithRelease
  void jobs_survive_kills_of_workers_and_server() {
    kit("mix", "--libraries", "--jobs", "2000", "--kills", "8", "--restarts", "2");
  }

  /** Whether memory grows; how fast it is depends on what else the machine does. */
  @Test
  @OnlyWithRelease
  void memory_does_not_grow_with_the_number_of_jobs() {
    kit("bench", "--libraries", "--jobs", "10000");
  }

  private void kit(String command, String... arguments) {
    new SdkScript(SdkServer.own(database), "sdk/conformance/" + command, List.of(arguments)).run();
  }
}
