package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.contract.token.ApprovalTokens;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.operate.LocalOperator;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.testkit.TestDatabase;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** An operator on the database and one through a server. */
abstract class OperatorsFixture extends ServerTest {
  final Operator direct;
  final Operator remote;

  OperatorsFixture(TestDatabase db) {
    super(db);
    direct =
        new LocalOperator(
            holdfast.store(),
            new Principal("ann", Tenant.ANY, Role.OPERATOR),
            new Diagnostics(holdfast.store(), Timings.DEFAULT),
            new ApprovalLinks(
                    new ApprovalTokens(
                        new Keyring(holdfast.store().admin()).ofLinks(), holdfast.queries()::now),
                    server::url)
                ::to,
            "test",
            () -> {});
    remote = new HttpOperator(server.url(), null);
  }

  @AfterEach
  void closeOperators() {
    direct.close();
    remote.close();
  }

  /** The outcome of a call: a value or an exception. */
  record Outcome(@Nullable Object value, @Nullable String thrown) {
    static Outcome of(Operator operator, Function<Operator, ?> act) {
      try {
        return new Outcome(act.apply(operator), null);
      } catch (RefusedException refused) {
        return new Outcome(null, refused.refusal() + ": " + refused.getMessage());
      } catch (OperatorException failed) {
        String state = failed.state().map(in -> " in " + in).orElse("");
        return new Outcome(null, failed.reason() + state + ": " + failed.getMessage());
      }
    }
  }

  final Outcome both(Function<Operator, ?> act) {
    Outcome onDatabase = Outcome.of(direct, act);
    assertThat(Outcome.of(remote, act)).isEqualTo(onDatabase);
    return onDatabase;
  }

  final void bothRefuse(Function<Operator, ?> act, String message) {
    assertThat(both(act).thrown()).contains(message);
  }

  static void refuses(Operator operator, Function<Operator, ?> act, String message) {
    assertThat(Outcome.of(operator, act).thrown()).startsWith(message);
  }
}
