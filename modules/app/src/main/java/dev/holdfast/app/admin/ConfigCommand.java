package dev.holdfast.app.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.OutputOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.server.config.ShownSetting;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows every setting, its value and where that came from. */
@Command(
    name = "config",
    description = "Show every setting, its value and origin, and wrong values.")
public final class ConfigCommand implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();
  @Mixin final OutputOption output = new OutputOption();

  @Override
  public Integer call() {
    Settings settings = common.unchecked();
    if (output.isData()) {
      ObjectNode all = Shown.object();
      for (ShownSetting setting : settings.shown()) {
        all.putObject(setting.key())
            .put("value", setting.value())
            .put("origin", setting.origin())
            .put("variable", setting.variable())
            .put("meaning", setting.meaning());
      }
      output.print(all);
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
      Terminal.print(table);
    }
    List<String> problems = settings.problems();
    problems.forEach(each -> Terminal.error("holdfast: " + Terminal.oneLine(each)));
    return problems.isEmpty() ? ExitCode.OK : ExitCode.CONFIGURATION;
  }
}
