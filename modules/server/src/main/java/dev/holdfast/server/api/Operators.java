package dev.holdfast.server.api;

import dev.holdfast.contract.operate.Operator;
import dev.holdfast.server.routing.Call;

/** What the caller of a request may do. */
@FunctionalInterface
public interface Operators {
  Operator of(Call call);
}
