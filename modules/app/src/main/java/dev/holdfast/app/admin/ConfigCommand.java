package dev.holdfast.app.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Logs;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.RetrySettings;
import dev.holdfast.app.config.ServerSettings;
import dev.holdfast.app.config.Setting;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.config.WorkerSettings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.error.Failures;
import dev.holdfast.app.run.Supervision;
import dev.holdfast.server.config.ShownSetting;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Every setting, its value and where that came from. */
@Command(
    name = "config",
    description =
        "Show every setting, its value and where it came from, and say which values are wrong.")
public final class ConfigCommand implements Callable<Integer> {
  private static final List<Consumer<Settings>> CHECKS =
      List.of(
          Access::urlOf,
          Access::poolSize,
          settings -> settings.flag(Setting.ALLOW_UNSAFE_DATABASE),
          settings -> settings.within(Setting.DATABASE_PORT, 0, 65_535),
          RetrySettings::defaults,
          settings -> settings.duration(Setting.RETAIN_SUCCEEDED),
          settings -> settings.duration(Setting.RETAIN_CANCELLED),
          settings -> settings.duration(Setting.RETAIN_FAILED),
          ConfigCommand::serverUrl,
          Logs::level,
          Logs::format);

  @Mixin final CommonOptions common = new CommonOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Override
  public Integer call() {
    Settings settings = common.unchecked();
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
    List<String> problems = problems(settings);
    problems.forEach(each -> System.err.println("holdfast: " + Failures.oneLine(each)));
    return problems.isEmpty() ? ExitCode.OK : ExitCode.CONFIGURATION;
  }

  private static void serverUrl(Settings settings) {
    if (settings.isGiven(Setting.SERVER_URL)) {
      ServerSettings.url(settings, Setting.SERVER_URL);
    }
  }

  /** All that would keep a worker, a supervisor, a server or another command from starting. */
  static List<String> problems(Settings settings) {
    Set<String> problems = new LinkedHashSet<>();
    Stream.of(CHECKS, WorkerSettings.CHECKS, Supervision.CHECKS, ServerSettings.CHECKS)
        .flatMap(List::stream)
        .forEach(
            check -> {
              try {
                check.accept(settings);
              } catch (CommandException wrong) {
                problems.add(String.valueOf(wrong.getMessage()));
              }
            });
    return List.copyOf(problems);
  }
}
