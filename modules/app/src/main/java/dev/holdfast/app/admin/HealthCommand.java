package dev.holdfast.app.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.WorkersTable;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.error.Failures;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.contract.resource.Shape;
import java.time.Instant;
import java.util.concurrent.Callable;
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
  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Override
  public Integer call() {
    try (Operator control = reach.open()) {
      Operator.Health health = control.health();
      if (output.json) {
        print(health);
      } else {
        System.out.println(health.about());
        System.out.print(WorkersTable.of(health.workers()));
        for (Operator.Health.Trouble trouble : health.problems()) {
          System.out.println("- " + Failures.oneLine(trouble.what()));
          System.out.println("  " + Failures.oneLine(trouble.doNext()));
        }
        if (health.problems().isEmpty()) {
          System.out.println("all is well");
        }
      }
      return health.problems().isEmpty() ? ExitCode.OK : ExitCode.NOT_HEALTHY;
    }
  }

  private static void print(Operator.Health health) {
    ObjectNode node =
        Shown.object().put("healthy", health.problems().isEmpty()).put("about", health.about());
    Instant paused = health.workers().pausedSince();
    node.put("workersPaused", paused == null ? null : paused.toString());
    node.putArray("workers")
        .addAll(health.workers().workers().stream().map(Shape::worker).toList());
    node.putArray("problems")
        .addAll(health.problems().stream().map(HealthCommand::problem).toList());
    Shown.print(node);
  }

  private static ObjectNode problem(Operator.Health.Trouble trouble) {
    return Shown.object()
        .put("code", trouble.code())
        .put("what", trouble.what())
        .put("doNext", trouble.doNext());
  }
}
