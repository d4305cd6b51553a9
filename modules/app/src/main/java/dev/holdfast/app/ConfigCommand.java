package dev.holdfast.app;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.server.ShownSetting;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Every setting, its value and where that came from. */
@Command(name = "config", description = "Show every setting, its value and where it came from.")
final class ConfigCommand implements Callable<Integer> {
  @Mixin final Common common = new Common();
  @Mixin final JsonOption output = new JsonOption();

  @Override
  public Integer call() {
    Settings settings = common.settings();
    WorkerProcess.check(settings);
    var unused = ServerSettings.options(settings);
    if (output.json) {
      ObjectNode all = Shown.object();
      for (ShownSetting setting : settings.shown()) {
        all.putObject(setting.key())
            .put("value", setting.value())
            .put("origin", setting.origin())
            .put("variable", setting.variable())
            .put("meaning", setting.meaning());
      }
      Shown.print(all);
    } else {
      Table table = new Table("SETTING", "VARIABLE", "VALUE", "FROM", "MEANING");
      for (ShownSetting setting : settings.shown()) {
        table.row(
            setting.key(),
            setting.variable(),
            setting.value(),
            setting.origin(),
            setting.meaning());
      }
      System.out.print(table);
    }
    return ExitCode.OK;
  }
}
