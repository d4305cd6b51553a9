package dev.holdfast.upgrade;

import static dev.holdfast.testkit.Soon.SOON;
import static java.util.Comparator.comparingInt;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Databases of all released versions, with data in every state, come to the present version and one
 * beyond it, with workers that run on. {@code ./release} writes the files of a version; they belong
 * into {@code src/test/resources/released} from then on.
 */
@ExtendWith(DatabaseExtension.class)
class UpgradeTest {
  private static final Path RELEASED = Path.of("src/test/resources/released");
  private static final Path PRESENT =
      Path.of("../../modules/queue/src/main/resources/dev/holdfast/queue/migration");

  private static final Path LATER = Path.of("src/test/resources/upgrade");

  /** This one, as if it had been released. */
  private static final String NOW = "now";

  static List<String> versions() throws IOException {
    List<String> all = new ArrayList<>(released());
    all.add(NOW);
    return all;
  }

  static List<String> released() throws IOException {
    if (!Files.isDirectory(RELEASED)) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(RELEASED)) {
      return folders.map(folder -> folder.getFileName().toString()).sorted().toList();
    }
  }

  /** As 'psql' runs the scripts of that folder. */
  private static void runScripts(TestDatabase database, Path folder)
      throws IOException, SQLException {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> scripts =
          files
              .filter(file -> file.getFileName().toString().startsWith("V"))
              .sorted(comparingInt(UpgradeTest::number))
              .toList();
      for (Path script : scripts) {
        DatabaseText.restore(database, Files.readString(script));
      }
    }
  }

  private static int number(Path script) {
    return Integer.parseInt(script.getFileName().toString().replaceFirst("^V(\\d+)__.*", "$1"));
  }

  /** A database of that version, with all that its files have. */
  private static TestDatabase of(String version, TestDatabase database)
      throws IOException, SQLException {
    TestDatabase old = database.empty();
    String data;
    if (version.equals(NOW)) {
      Migrations.apply(old.dataSource(), true);
      data = written(database);
    } else {
      runScripts(old, RELEASED.resolve(version));
      data = Files.readString(RELEASED.resolve(version).resolve("data.sql"));
    }
    DatabaseText.restore(old, data);
    return old;
  }

  private static String written(TestDatabase database) {
    try (Holdfast holdfast = Holdfast.on(database.dataSource())) {
      new EveryState(holdfast).make();
    }
    return DatabaseText.of(database);
  }

  @ParameterizedTest
  @MethodSource("versions")
  void workers_keep_running_while_the_schema_is_upgraded(String version, TestDatabase database)
      throws Exception {
    TestDatabase old = of(version, database);
    assertThat(states(old)).containsExactlyInAnyOrder(names());
    // Batched jobs and those of the one queue that is served are the workers' to change.
    List<String> before = resting(old);
    assertThat(before).hasSizeGreaterThan(6);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch upgraded = new CountDownLatch(1);
    Migrations.apply(old.dataSource(), true);
    try (Holdfast holdfast = Holdfast.on(old.dataSource());
        Worker worker = worker(holdfast, begun, upgraded)) {
      JobId across = holdfast.enqueue(Job.of("across").queue(EveryState.QUEUE)).id();
      assertThat(begun.await(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      AtomicBoolean done = new AtomicBoolean();
      List<JobId> meanwhile = new ArrayList<>();
      Thread producer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    while (!done.get() || meanwhile.size() < 20) {
                      meanwhile.add(holdfast.enqueue(Job.of("echo").queue(EveryState.QUEUE)).id());
                    }
                  });
      runScripts(old, LATER);
      done.set(true);
      producer.join();
      upgraded.countDown();
      meanwhile.add(across);
      for (JobId id : meanwhile) {
        Eventually.until(() -> holdfast.find(id).orElseThrow().state() == JobState.SUCCEEDED);
      }
      assertThat(worker.running()).isEmpty();
    }
    assertThat(resting(old)).isEqualTo(before);
    // One that is restarted before it is upgraded, too.
    try (Holdfast holdfast = Holdfast.on(old.dataSource());
        Worker worker = worker(holdfast, begun, upgraded)) {
      holdfast.store().check(true);
      JobId id = holdfast.enqueue(Job.of("echo").queue(EveryState.QUEUE)).id();
      Eventually.until(() -> holdfast.find(id).orElseThrow().state() == JobState.SUCCEEDED);
      assertThat(worker.name()).isNotEmpty();
    }
    // Until a later migration removes something it needs.
    old.sql("UPDATE holdfast.schema_compatibility SET oldest_version = 9000");
    try (Holdfast holdfast = Holdfast.on(old.dataSource())) {
      assertThatThrownBy(() -> holdfast.store().check(true))
          .isInstanceOf(DatabaseException.class)
          .hasMessageContaining("upgrade Holdfast");
    }
  }

  private static Worker worker(Holdfast holdfast, CountDownLatch begun, CountDownLatch upgraded) {
    return holdfast
        .worker(EveryState.QUEUE)
        .handle("echo", Json.class, (payload, context) -> payload)
        .handle(
            "across",
            Json.class,
            (payload, context) -> {
              begun.countDown();
              upgraded.await();
              return payload;
            })
        .start();
  }

  private static List<String> states(TestDatabase database) {
    return database.query("SELECT DISTINCT state::text AS state FROM holdfast.job").stream()
        .map(row -> String.valueOf(row.get("state")))
        .toList();
  }

  private static String[] names() {
    return Arrays.stream(JobState.values()).map(JobState::name).toArray(String[]::new);
  }

  private static List<String> resting(TestDatabase database) {
    return DatabaseText.jobs(database).stream()
        .filter(line -> !line.contains(" " + EveryState.QUEUE + " "))
        .toList();
  }

  /** From 0.1.0 on migrations only go forward: who has applied one has it for good. */
  @Test
  void released_migrations_are_unchanged() throws IOException {
    for (String version : released()) {
      try (Stream<Path> files = Files.list(RELEASED.resolve(version))) {
        for (Path file : files.filter(f -> f.getFileName().toString().startsWith("V")).toList()) {
          assertThat(PRESENT.resolve(file.getFileName())).hasSameTextualContentAs(file);
        }
      }
    }
  }

  /** Used by {@code ./release}, which names the folder. */
  @Test
  void the_upgrade_files_of_a_version_are_written_to_the_given_folder(TestDatabase database)
      throws IOException {
    String wanted = System.getProperty("holdfast.upgrade.write", "");
    Path folder = Path.of(wanted.isEmpty() ? "target/upgrade-files" : wanted);
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("data.sql"), written(database));
    try (Stream<Path> files = Files.list(PRESENT)) {
      for (Path file : files.toList()) {
        Files.writeString(folder.resolve(file.getFileName()), Files.readString(file));
      }
    }
    assertThat(folder).isDirectoryContaining("glob:**/V1__*.sql");
  }
}
