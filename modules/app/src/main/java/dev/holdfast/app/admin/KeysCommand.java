package dev.holdfast.app.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** API keys: create, list, revoke, rotate. */
@Command(
    name = "keys",
    description = "Create, list, revoke and rotate API keys of the server.",
    mixinStandardHelpOptions = true,
    subcommands = {
      KeysCommand.CreateCommand.class,
      KeysCommand.ListCommand.class,
      KeysCommand.RevokeCommand.class,
      KeysCommand.RotateCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class KeysCommand {
  /** Prints the new key; it cannot be printed again. */
  @Command(
      name = "create",
      description = {
        "Create an API key and print it.",
        "It is shown only once: the database keeps a digest of it."
      },
      footer = {"", "Example:", "  holdfast keys create --role worker --name builder > worker.key"})
  static final class CreateCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Option(
        names = "--role",
        required = true,
        paramLabel = "ROLE",
        description = "${COMPLETION-CANDIDATES}")
    Role role = Role.VIEWER;

    @Option(
        names = "--tenant",
        paramLabel = "TENANT",
        description = "tenant whose jobs it sees; default: all tenants")
    @Nullable String tenant;

    @Option(names = "--name", paramLabel = "NAME", description = "a name, to tell it from others")
    @Nullable String name;

    @Option(
        names = "--expires-in",
        paramLabel = "TIME",
        description = "how long it is valid, such as 90d; default: for ever")
    @Nullable String expiresIn;

    @Override
    public Integer call() {
      Duration lifetime =
          ApiKey.checkedLifetime(
              expiresIn == null ? null : Input.duration("--expires-in", expiresIn));
      try (Operator operator = connection.open()) {
        show(
            operator.keys().create(name == null ? role.word() : name, role, tenant, lifetime),
            output.json);
        return ExitCode.OK;
      }
    }
  }

  /** All keys, without their secrets. */
  @Command(name = "list", description = "List API keys, without their secrets.")
  static final class ListCommand extends ReadCommand<List<ApiKey>> {
    @Override
    protected List<ApiKey> read(Operator operator) {
      return operator.keys().list();
    }

    @Override
    protected Object json(List<ApiKey> keys) {
      return keys;
    }

    @Override
    protected String text(List<ApiKey> keys) {
      Table table = new Table("ID", "NAME", "ROLE", "TENANT", "CREATED", "EXPIRES", "STATE");
      Instant now = Instant.now();
      for (ApiKey key : keys) {
        table.row(
            key.id(),
            key.name(),
            key.role().word(),
            key.tenant() == null ? "" : key.tenant(),
            key.createdAt(),
            key.expiresAt() == null ? "" : key.expiresAt(),
            state(key, now));
      }
      return table.orIfEmpty("no API keys");
    }

    private static String state(ApiKey key, Instant now) {
      Instant revoked = key.revokedAt();
      if (revoked != null) {
        return revoked.isAfter(now) ? "good until " + revoked : "revoked";
      }
      Instant expires = key.expiresAt();
      return expires != null && !expires.isAfter(now) ? "expired" : "good";
    }
  }

  /** Revokes a key. */
  @Command(name = "revoke", description = "Revoke an API key.")
  static final class RevokeCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "ID", description = "the key's id, as 'keys list' shows it")
    String id = "";

    @Override
    public Integer call() {
      try (Operator operator = connection.open()) {
        if (!operator.keys().revoke(id)) {
          throw unknown(id);
        }
        Terminal.println(id + " is revoked; servers may accept it for a few more seconds");
        return ExitCode.OK;
      }
    }
  }

  /** Replaces a key by one with the same role and tenant. */
  @Command(
      name = "rotate",
      description = {
        "Replace an API key: create a new one, revoke the old one later.",
        "With --signing, replace the key that signs task tokens."
      })
  static final class RotateCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Parameters(arity = "0..1", paramLabel = "ID", description = "the key's id")
    @Nullable String id;

    @Option(
        names = "--overlap",
        paramLabel = "TIME",
        description = "how long the old one stays valid; default: 1h")
    @Nullable String overlap;

    @Option(names = "--signing", description = "replace the key that signs task tokens")
    boolean signing;

    @Override
    public Integer call() {
      if (signing == (id != null) || (signing && overlap != null)) {
        throw new CommandException(ExitCode.USAGE, "name a key by its id, or use --signing alone");
      }
      Duration during =
          ApiKey.checkedOverlap(
              overlap == null ? Duration.ofHours(1) : Input.duration("--overlap", overlap));
      try (Operator operator = connection.open()) {
        if (id == null) {
          operator.keys().rotateSigning();
          Terminal.println(
              "task tokens are signed with a new key; those signed before stay valid until they"
                  + " expire");
        } else {
          String old = id;
          show(operator.keys().rotate(old, during).orElseThrow(() -> unknown(old)), output.json);
          Terminal.error(
              "holdfast: the old key, " + old + ", stays valid for " + Durations.text(during));
        }
        return ExitCode.OK;
      }
    }
  }

  /** The key alone on standard output, so that it can go straight into a file. */
  private static void show(KeyOperator.NewKey key, boolean json) {
    if (json) {
      ObjectNode node = Shown.object().put("id", key.id()).put("key", key.key());
      Shown.print(node);
    } else {
      Terminal.println(key.key());
      Terminal.error("created key " + key.id() + "; it is not shown again");
    }
  }

  private static CommandException unknown(String id) {
    return new CommandException(
        ExitCode.NOT_FOUND, "there is no key " + Terminal.oneLine(id) + " that is valid");
  }
}
