package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.scenarios.UserProjects.Shown;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.AssembledProgram;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The library as users get it: installed by Maven, and used by a project of its own. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
class InstalledLibraryTest {
  private static final Path ROOT = AssembledProgram.checkout();
  private static final String TREE =
      " org.apache.maven.plugins:maven-dependency-plugin:3.9.0:tree -DoutputFile=tree.txt";

  private static final Pattern LOG = Pattern.compile("^(\\[[^]]+] [A-Z]+ |WARNING: )");

  /** Thousands of classes out of nested jars, on a machine that has other builds to do. */
  private static final Duration FIRST_START = Duration.ofMinutes(10);

  private final Processes processes;
  private final UserProjects projects;
  private final Path checkout;
  private final Maven maven;

  InstalledLibraryTest(Processes processes) throws IOException {
    this.processes = processes;
    this.projects = new UserProjects(processes.folder());
    this.checkout = projects.checkout();
    this.maven = projects.maven();
  }

  @BeforeEach
  void makeCheckout() throws IOException {
    projects.makeCheckout();
  }

  @Test
  @OnlyWithRelease
  void a_separate_project_builds_tests_and_runs_with_the_library(TestDatabase databases)
      throws IOException {
    List<Shown> shown = shown("README.md");
    assertThat(shown).hasSize(1);
    maven.run(checkout, shown.getFirst().command());
    assertThat(maven.installed())
        .containsExactlyInAnyOrder(
            "holdfast",
            "holdfast-parent",
            "holdfast-model",
            "holdfast-queue",
            "holdfast-redaction",
            "holdfast-worker");

    TestDatabase database = databases.empty();
    Launch.Answer migrated =
        processes
            .launch("migrate")
            .env("HOLDFAST_DATABASE_URL", database.url())
            .env("HOLDFAST_DATABASE_USER", database.user())
            .env("HOLDFAST_DATABASE_PASSWORD", database.password())
            .run();
    assertThat(migrated.code()).as("%s", migrated).isZero();
    maven.env("DATABASE_URL", UserProjects.urlOf(database));
    Path shop = projects.copyOf("shop");

    List<Shown> ofShop = shown("examples/shop/README.md");
    assertThat(ofShop).hasSize(3).startsWith(shown.getFirst());
    String test = ofShop.get(1).command();
    assertThat(maven.run(shop, test + TREE))
        .anyMatch(line -> line.contains("Tests run: 2, Failures: 0, Errors: 0, Skipped: 0"));
    assertThat(brought(Files.readAllLines(shop.resolve("tree.txt"))))
        .containsExactlyInAnyOrder(
            "dev.holdfast:holdfast-model",
            "dev.holdfast:holdfast-queue",
            "dev.holdfast:holdfast-redaction",
            "dev.holdfast:holdfast-worker",
            "org.postgresql:postgresql",
            "org.slf4j:slf4j-api",
            "com.fasterxml.jackson.core:jackson-annotations",
            "com.fasterxml.jackson.core:jackson-core",
            "com.fasterxml.jackson.core:jackson-databind",
            "com.fasterxml.jackson.datatype:jackson-datatype-jdk8",
            "com.fasterxml.jackson.datatype:jackson-datatype-jsr310");
    assertEverythingIsDone(database, 1);

    // The document leaves out the log. The jobs may end in any order.
    assertThat(maven.run(shop, ofShop.get(2).command()))
        .map(InstalledLibraryTest::withoutWhatDiffers)
        .filteredOn(line -> !line.isEmpty() && !LOG.matcher(line).find())
        .containsExactlyInAnyOrderElementsOf(
            ofShop.get(2).printed().stream()
                .map(InstalledLibraryTest::withoutWhatDiffers)
                .toList());
    assertEverythingIsDone(database, 2);
  }

  @Test
  @OnlyWithRelease
  void a_spring_boot_application_builds_tests_and_runs_with_the_starter(TestDatabase databases)
      throws Exception {
    List<Shown> shown = shown("examples/spring-shop/README.md");
    assertThat(shown).hasSize(5);
    assertThat(shown("docs/guides/spring-boot.md")).containsExactly(shown.getFirst());
    maven.run(checkout, shown.getFirst().command());
    assertThat(maven.installed())
        .contains("holdfast-spring-boot-starter", "holdfast-micrometer", "holdfast")
        .doesNotContain("holdfast-testkit", "holdfast-server");

    TestDatabase database = databases.empty();
    maven.env("DATABASE_URL", UserProjects.urlOf(database));
    Path shop = projects.copyOf("spring-shop");
    assertThat(maven.run(shop, shown.get(1).command()))
        .anyMatch(line -> line.contains("Tests run: 3, Failures: 0, Errors: 0, Skipped: 0"));

    List<String> command = UserProjects.java(shown.get(2), "--server.port=0");
    ProcessBuilder builder = new ProcessBuilder(command).directory(shop.toFile());
    builder.environment().put("DATABASE_URL", UserProjects.urlOf(database));
    try (ChildProcess application = ChildProcess.start(builder)) {
      String port = application.awaitLine("Tomcat started on port (\\d+)", FIRST_START).group(1);
      assertThat(curl(shown.get(3), port)).contains("\"duplicate\":false");
      application.awaitLine("mail to ada@example.org", SOON);
      Awaitility.await()
          .atMost(SOON)
          .until(() -> count(database, "holdfast.job WHERE state <> 'SUCCEEDED'") == 0);
      assertThat(curl(shown.get(4), port)).contains("\"queues\":[", "worker:default:0@");
      application.signal("TERM");
      assertThat(application.awaitExit(SOON)).isEqualTo(143);
      assertThat(application.lines()).anyMatch(line -> line.contains("has stopped"));
    }
    assertThat(count(database, "ledger JOIN orders ON id = order_id"))
        .isEqualTo(count(database, "orders"))
        .isEqualTo(1);
  }

  private static long count(TestDatabase database, String from) {
    return database.count("SELECT count(*) FROM " + from);
  }

  /** As the document has it, but for the port. */
  private static String curl(Shown shown, String port) {
    String command = shown.command().replace("localhost:8080", "127.0.0.1:" + port);
    try (ChildProcess shell = ChildProcess.command("sh", "-c", command)) {
      assertThat(shell.awaitExit(SOON)).isZero();
      return String.join("\n", shell.lines());
    }
  }

  @Test
  @OnlyWithRelease
  void maven_itself_may_run_on_an_older_jdk() throws IOException {
    maven.env("JAVA_HOME", olderJdk()).run(checkout, "mvn -DskipTests -pl modules/process install");
    assertThat(maven.installed()).contains("holdfast-process");
  }

  @Test
  @OnlyWithRelease
  void without_a_suitable_jdk_the_message_says_what_to_set() throws IOException {
    Files.writeString(checkout.resolve("toolchains.xml"), "<toolchains/>");
    List<String> said =
        maven
            .env("JAVA_HOME", olderJdk())
            .run(checkout, "mvn -N -t toolchains.xml -Dtoolchain.jdk.discover=false install", 1);
    assertThat(said)
        .anyMatch(
            line ->
                line.contains("ERROR") && line.contains("needs a JDK 21 or newer: set JAVA_HOME"));
  }

  @Test
  void no_module_that_only_tests_or_measures_is_ever_installed() throws IOException {
    String pom = Files.readString(ROOT.resolve("pom.xml"));
    List<String> checks =
        Pattern.compile("<module>(.*)</module>")
            .matcher(pom.substring(pom.indexOf("<id>checks</id>")))
            .results()
            .map(module -> module.group(1))
            .toList();
    assertThat(checks).contains("checks/system-tests", "checks/bench");
    for (String module : Stream.concat(Stream.of("checks/testkit"), checks.stream()).toList()) {
      assertThat(ROOT.resolve(module).resolve("pom.xml"))
          .content()
          .contains("<maven.install.skip>true<", "<maven.deploy.skip>true<");
    }
  }

  private static void assertEverythingIsDone(TestDatabase database, int orders) {
    assertThat(database.count("SELECT count(*) FROM orders")).isEqualTo(orders);
    assertThat(database.count("SELECT count(*) FROM ledger JOIN orders ON id = order_id"))
        .isEqualTo(orders);
    assertThat(database.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'"))
        .isEqualTo(2L * orders);
  }

  private static List<Shown> shown(String document) throws IOException {
    return UserProjects.shown(document, InstalledLibraryTest.class);
  }

  private static String withoutWhatDiffers(String line) {
    return line.replaceAll("\u001b\\[[0-9;]*m", "")
        .replaceAll("\\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\b", "ID");
  }

  /** The part of a dependency tree below our library, as group:artifact. */
  private static List<String> brought(List<String> tree) {
    return tree.stream()
        .dropWhile(line -> !line.contains(" dev.holdfast:holdfast:"))
        .skip(1)
        .takeWhile(line -> line.startsWith("| "))
        .map(line -> line.replaceFirst("^[^a-z]*([^:]+:[^:]+):.*", "$1"))
        .toList();
  }

  private static String olderJdk() throws IOException {
    Optional<Path> found = Optional.empty();
    Path folder = Path.of("/usr/lib/jvm");
    if (Files.isDirectory(folder)) {
      try (Stream<Path> homes = Files.list(folder)) {
        found = homes.filter(home -> version(home) >= 11 && version(home) < 21).findFirst();
      }
    }
    assumeThat(found).as("a JDK older than 21 in " + folder).isPresent();
    return found.orElseThrow().toString();
  }

  private static int version(Path home) {
    try {
      Matcher matcher =
          Pattern.compile("JAVA_VERSION=\"(\\d+)")
              .matcher(Files.readString(home.resolve("release")));
      return Files.exists(home.resolve("bin/java")) && matcher.find()
          ? Integer.parseInt(matcher.group(1))
          : 0;
    } catch (IOException e) {
      return 0;
    }
  }
}
