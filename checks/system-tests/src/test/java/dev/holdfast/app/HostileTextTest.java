package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.supervisor.WorkerLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Text of jobs that would take over a terminal, hide in it, or turn its lines around. */
class HostileTextTest extends CommandFixture {
  private static final Codec CODEC = new JacksonCodec();
  private static final String ESCAPES =
      "\u001b[31m\u009b2J\u001b]0;title\u0007\u0090q\u009c\r\b\u007f\u0085";
  private static final String UNSEEN = "\u202e\u2066\u200b\u2028\ufeff\u00ad\u061c\u2060\u200e";
  private static final String TEXT =
      "x" + ESCAPES + "y" + UNSEEN + "z\udb40\udc41 👩\u200d👧 \u0645\u06cc\u200c\u062e";

  /** What of it may be shown: the joiners of scripts and of pictures stay where they join. */
  private static final String PICTURES = "👩\u200d👧 \u0645\u06cc\u200c\u062e";

  private static final Pattern UNPRINTABLE =
      Pattern.compile(
          "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}&&[^\\n\\u200c\\u200d]]|(?<=\\p{ASCII})\\p{Cf}");

  /** They run until they are stopped, and print what the others print. */
  private static final Set<String> SERVING = Set.of("dev", "demo", "server", "worker", "supervise");

  private final JobId first = JobId.next();
  private JobId failed = first;
  private JobId running = first;
  private JobId asking = first;
  private JobId refused = first;

  private void fill() throws IOException {
    Json text = CODEC.encode(TEXT);
    holdfast.enqueue(
        Job.of("build", Map.of(TEXT, TEXT))
            .id(first)
            .run(first, TEXT)
            .uniqueKey(TEXT)
            .assetId(TEXT)
            .partitionKey(TEXT)
            .resources(Map.of(TEXT, TEXT)));
    failed = holdfast.enqueue(Job.of("build", TEXT).run(first, TEXT + 2).dependsOn(first)).id();
    Lease lease = claim();
    holdfast
        .jobs()
        .report(
            List.of(
                new Report.Progress(lease, 7, TEXT),
                new Report.Event(lease, "note", text),
                new Report.Step(
                    lease, "s", 1, StepState.DONE, 1, false, text, null, null, null, List.of()),
                new Report.Log(lease, 1, "line")));
    // Text is made inert before it is stored, too, and a file name is refused: not all were always.
    database.sql("UPDATE holdfast.log SET text = ?", TEXT);
    holdfast.jobs().settle(new Settlement.Succeed(lease, text));
    holdfast
        .jobs()
        .settle(
            new Settlement.Fail(
                claim(), Failure.of(FailureCategory.DATA_QUALITY, TEXT, TEXT), null));
    JobId cancelled = holdfast.enqueue(Job.of("build")).id();
    holdfast.cancel(cancelled, TEXT);
    running = holdfast.enqueue(Job.of("build", TEXT)).id();
    claim();
    asking = asking();
    refused = asking();
    holdfast.store().notices().writeNotices();
    database.sql("UPDATE holdfast.notice SET last_error = ?", TEXT);
    Path logs = Files.createDirectories(folder.resolve("logs"));
    Files.writeString(WorkerLog.file(logs, "worker:default:0"), TEXT + "\n");
    Files.writeString(WorkerLog.file(logs, "worker:de\u202efault:1"), "x");
    Files.createDirectories(folder.resolve("scratch").resolve(first + "-1"));
  }

  private JobId asking() {
    JobId id = holdfast.enqueue(Job.of("build", TEXT)).id();
    Question question = Question.of(TEXT).details(TEXT).within(Duration.ofDays(1));
    holdfast.jobs().suspend(new Suspension(claim(), 1, new Wait.ForApproval("q", question)));
    return id;
  }

  /** The next job may be becoming due just now, because the one before it has ended. */
  private Lease claim() {
    return Awaitility.await()
        .until(
            () ->
                holdfast
                    .jobs()
                    .claim(new ClaimRequest("default", 1, "w" + TEXT, Duration.ofMinutes(5)))
                    .jobs(),
            jobs -> !jobs.isEmpty())
        .getFirst()
        .lease();
  }

  private List<List<String>> commands() {
    List<String> lines =
        List.of(
            "migrate",
            "migrate --dry-run",
            "enqueue build",
            "enqueue build " + TEXT.replace(' ', '_'),
            "jobs list",
            "jobs list --search " + TEXT.replace(' ', '_'),
            "jobs show " + first,
            "jobs show " + failed,
            "jobs show " + running,
            "jobs steps " + first,
            "jobs steps --step s " + first,
            "jobs steps --step " + TEXT.replace(' ', '_') + " " + first,
            "jobs log " + first,
            "jobs watch " + first,
            "jobs watch " + failed,
            "jobs control " + running,
            "jobs control pause " + running,
            "jobs cancel --dry-run --queue default",
            "jobs cancel " + running,
            "jobs retry --dry-run " + failed,
            "jobs retry " + failed,
            "jobs edit --priority 3 " + failed,
            "jobs fork --from-step " + TEXT.replace(' ', '_') + " " + first,
            "jobs fork --from-step s --key " + TEXT.replace(' ', '_') + " " + first,
            "jobs fork --from-step t " + first,
            "jobs signal --kind build --unique-key " + TEXT.replace(' ', '_') + " go",
            "jobs delete " + first,
            "jobs show " + asking,
            "inbox",
            "jobs link " + asking,
            "jobs link --wait " + TEXT.replace(' ', '_') + " " + asking,
            "notices list",
            "notices list --state " + TEXT.replace(' ', '_'),
            "notices send " + TEXT.replace(' ', '_'),
            "jobs signal " + asking + " " + TEXT.replace(' ', '_'),
            "jobs signal --key " + TEXT.replace(' ', '_') + " " + asking + " go",
            "jobs approve " + asking + " --comment " + TEXT.replace(' ', '_'),
            "jobs reject " + refused + " --comment " + TEXT.replace(' ', '_'),
            "jobs show " + asking,
            "runs list",
            "runs show " + first,
            "failures",
            "queues list",
            "queues show default",
            "queues pause de\u202efault",
            "queues pause default",
            "queues resume default",
            "queues limit default 3",
            "queues rate default 3",
            "workers list",
            "workers pause worker:\u202e:0 --wait 1ms",
            "workers resume worker:\u202e:0 --wait 1ms",
            "workers restart worker:\u202e:0 --wait 1ms",
            "workers stop worker:\u202e:0 --wait 1ms",
            "schedules set nightly 0_3_*_*_* build",
            "schedules list",
            "schedules show nightly",
            "schedules run nightly",
            "schedules pause nightly",
            "schedules resume nightly",
            "schedules remove \u202e",
            "stats",
            "health",
            "logs",
            "logs worker:default:0",
            "logs worker:\u202e:0",
            "keys create --role admin --name \u202e" + UNSEEN,
            "keys list",
            "keys revoke \u202e",
            "keys rotate \u202e",
            "scratch list",
            "scratch clean --older-than 1s --dry-run",
            "config",
            "completion",
            "help",
            TEXT.replace(' ', '_'));
    return lines.stream()
        .map(line -> Stream.of(line.split(" ")).map(word -> word.replace("0_3_*_*_*", "0 3 * * *")))
        .map(Stream::toList)
        .toList();
  }

  @Test
  void no_command_prints_what_a_terminal_would_obey_or_not_show() throws IOException {
    fill();
    String settings =
        direct() + "\nsupervisor: {logsFolder: '%s'}\n".formatted(folder.resolve("logs"));
    Set<String> tried = new TreeSet<>();
    for (List<String> command : commands()) {
      boolean takesConfig =
          !List.of("completion", "help", TEXT.replace(' ', '_')).contains(command.get(0));
      if (takesConfig) {
        runWith(settings, command.toArray(String[]::new));
      } else {
        said.reset();
        complained.reset();
        Main.run(command.toArray(String[]::new));
      }
      tried.add(name(command));
      isInert(command, said());
      isInert(command, complained());
      assertThat(said() + complained()).as("%s", command).isNotEmpty();
    }
    assertThat(tried).containsAll(leaves());
  }

  @Test
  void as_json_and_yaml_the_same_text_is_printed_with_escapes() throws IOException {
    fill();
    for (String line :
        List.of("jobs show " + first, "jobs show " + failed, "jobs list", "runs show " + first)) {
      List<String> command = new ArrayList<>(List.of(line.split(" ")));
      command.add("-o");
      command.add("json");
      assertThat(run(command.toArray(String[]::new))).isZero();
      isInert(command, said());
      JsonNode json = json();
      assertThat(json.findValuesAsText("runKey")).as(line).anyMatch(key -> key.startsWith(TEXT));
      command.set(command.size() - 1, "yaml");
      assertThat(run(command.toArray(String[]::new))).isZero();
      isInert(command, said());
      assertThat(new YAMLMapper().readTree(said())).as(line).isEqualTo(json);
    }
    assertThat(run("jobs", "show", first.toString())).isZero();
    assertThat(said()).contains(PICTURES);
  }

  private static void isInert(List<String> command, String printed) {
    Matcher found = UNPRINTABLE.matcher(printed);
    if (found.find()) {
      throw new AssertionError(
          "%s prints U+%04X in: %s"
              .formatted(
                  command,
                  printed.codePointAt(found.start()),
                  CODEC.encode(
                      printed.substring(
                          Math.max(0, found.start() - 60),
                          Math.min(printed.length(), found.end() + 20)))));
    }
  }

  private static String name(List<String> command) {
    CommandLine line = Main.commandLine();
    List<String> words = new ArrayList<>();
    for (String word : command) {
      CommandLine next = line.getSubcommands().get(word);
      if (next == null) {
        break;
      }
      words.add(word);
      line = next;
    }
    return String.join(" ", words);
  }

  private static Set<String> leaves() {
    return leaves("", Main.commandLine())
        .filter(name -> !SERVING.contains(name))
        .collect(Collectors.toSet());
  }

  private static Stream<String> leaves(String name, CommandLine line) {
    return line.getSubcommands().isEmpty()
        ? Stream.of(name.strip())
        : line.getSubcommands().entrySet().stream()
            .flatMap(each -> leaves(name + " " + each.getKey(), each.getValue()));
  }
}
