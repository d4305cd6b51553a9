package dev.holdfast.app;

import com.fasterxml.jackson.databind.node.ObjectNode;
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
      for (Setting setting : Setting.values()) {
        all.putObject(setting.key())
            .put("value", shown(settings, setting))
            .put("origin", settings.value(setting).origin())
            .put("variable", setting.variable())
            .put("meaning", setting.meaning());
      }
      for (ProgramSettings program : settings.programs()) {
        all.putObject("handlers." + program.kind())
            .put("value", String.join(" ", program.command()))
            .put("origin", "holdfast.yaml");
      }
      for (RuntimeSettings runtime : settings.runtimes()) {
        all.putObject("runtimes." + runtime.name())
            .put("value", String.join(" ", runtime.command()))
            .put("origin", "holdfast.yaml");
      }
      Shown.print(all);
    } else {
      Table table = new Table("SETTING", "VARIABLE", "VALUE", "FROM", "MEANING");
      for (Setting setting : Setting.values()) {
        table.row(
            setting.key(),
            setting.variable(),
            shown(settings, setting),
            settings.value(setting).origin(),
            setting.meaning());
      }
      for (ProgramSettings program : settings.programs()) {
        table.row(
            "handlers." + program.kind(),
            "",
            String.join(" ", program.command()),
            "holdfast.yaml",
            "program that runs the kind");
      }
      for (RuntimeSettings runtime : settings.runtimes()) {
        table.row(
            "runtimes." + runtime.name(),
            "",
            String.join(" ", runtime.command()),
            "holdfast.yaml",
            "program that runs steps");
      }
      System.out.print(table);
    }
    return ExitCode.OK;
  }

  private static String shown(Settings settings, Setting setting) {
    String text = settings.text(setting);
    if (setting.isSecret()) {
      return text.isEmpty() ? "" : "***";
    }
    return setting == Setting.DATABASE_URL ? DatabaseUrl.masked(text) : text;
  }
}
