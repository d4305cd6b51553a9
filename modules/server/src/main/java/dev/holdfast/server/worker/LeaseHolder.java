package dev.holdfast.server.worker;

import dev.holdfast.contract.token.TaskScope;
import dev.holdfast.server.auth.Caller;

/** Who says that it holds an attempt, and what it shows for that. */
sealed interface LeaseHolder {
  /**
   * A task token. It was signed for one attempt when that was leased, and proves its tenant too.
   */
  record Token(TaskScope scope) implements LeaseHolder {}

  /**
   * A worker under an API key, which holds the attempts that were claimed under its name and whose
   * tenant the key sees.
   */
  record Worker(Caller caller, String name) implements LeaseHolder {}
}
