package dev.holdfast.model;

import org.jspecify.annotations.Nullable;

/**
 * What an operator asks of a component.
 *
 * @param supervisor null for all that have such a component
 */
public record WorkerCommand(
    String component,
    @Nullable String supervisor,
    WorkerOrder.Action action,
    String requestedBy,
    String reason) {}
