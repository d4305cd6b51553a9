package dev.holdfast.app.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.app.cli.OutputOption;
import dev.holdfast.app.cli.WorkersTable;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.operate.diagnosis.ProblemText;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Whether all is well, and what to do when it is not. */
@Command(
    name = "health",
    description = {
      "Show what is wrong and what to do about it.",
      "Exit code 0 when nothing is wrong, 11 when something is, 3 or 4 when the server",
      "or the database cannot be used."
    })
public final class HealthCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final OutputOption output = new OutputOption();

  @Override
  public Integer call() {
    try (Operator operator = connection.open()) {
      Operator.Health health = operator.health();
      if (output.isData()) {
        output.print(report(health));
      } else {
        Terminal.println(health.about());
        Terminal.print(WorkersTable.of(health.workers()));
        for (Problem problem : problems(health)) {
          Terminal.println("- " + Terminal.oneLine(problem.message()));
          Terminal.println("  " + Terminal.oneLine(problem.hint()));
        }
        if (health.problems().isEmpty()) {
          Terminal.println("all is well");
        }
      }
      return health.problems().isEmpty() ? ExitCode.OK : ExitCode.NOT_HEALTHY;
    }
  }

  private static Report report(Operator.Health health) {
    return new Report(
        health.problems().isEmpty(),
        health.about(),
        health.workers().workersPausedAt(),
        health.workers().workers(),
        problems(health));
  }

  private static List<Problem> problems(Operator.Health health) {
    return health.problems().stream().map(Problem::of).toList();
  }

  /**
   * One thing that is wrong.
   *
   * @param parameters what it is about
   * @param hint what to do about it, with the command line
   */
  record Problem(String code, Map<String, Object> parameters, String message, String hint) {
    /** In the words of this program, or of the server if that is newer and has other codes. */
    static Problem of(Operator.Problem found) {
      String code = found.code();
      return ProblemText.of(code, found.parameters())
          .map(text -> new Problem(code, found.parameters(), text.message(), text.cliHint()))
          .orElseGet(
              () -> new Problem(code, found.parameters(), found.message(), found.httpHint()));
    }
  }

  /** What is printed as data. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Report(
      boolean healthy,
      String about,
      @Nullable Instant workersPausedAt,
      List<WorkerView> workers,
      List<Problem> problems) {}
}
