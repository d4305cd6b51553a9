package dev.holdfast.worker.handler;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What was decided.
 *
 * @param by null when nobody has decided in time
 */
public record Approval(boolean approved, @Nullable String by, Instant at, String comment) {}
