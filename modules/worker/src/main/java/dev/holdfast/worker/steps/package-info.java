/** Steps of a job: attempts within budgets, stuck ones found and repeated, checkpoints. */
@NullMarked
package dev.holdfast.worker.steps;

import org.jspecify.annotations.NullMarked;
