/**
 * What is done for the queue again and again, by workers with the database or by a server.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release; except {@link
 * dev.holdfast.worker.maintenance.Upkeep}.
 */
@NullMarked
package dev.holdfast.worker.maintenance;

import org.jspecify.annotations.NullMarked;
