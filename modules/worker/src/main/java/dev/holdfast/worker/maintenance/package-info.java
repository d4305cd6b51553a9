/**
 * What a worker does for the queue beside its own jobs: recovers jobs, fires schedules, deletes old
 * ones.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release; except {@link
 * dev.holdfast.worker.maintenance.Upkeep}.
 */
@NullMarked
package dev.holdfast.worker.maintenance;

import org.jspecify.annotations.NullMarked;
