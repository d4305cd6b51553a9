package dev.holdfast.worker.config;

import dev.holdfast.worker.steps.Budgets;
import java.util.function.UnaryOperator;

/**
 * How a worker heals steps.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param redact hides secrets in what is kept of failures and in lines of the job's log; the worker
 *     itself knows no secrets, so its caller passes the function
 */
public record Healing(Budgets budgets, UnaryOperator<String> redact) {}
