package dev.holdfast.contract.task;

import dev.holdfast.model.attempt.StepStatus;
import java.util.List;

/** The steps of a task, in their order. */
public record TaskSteps(List<StepStatus> steps) {}
