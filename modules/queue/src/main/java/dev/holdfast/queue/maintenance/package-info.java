/**
 * What keeps the queue in order besides recovery: due retries, jobs that waited for others,
 * retention.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.maintenance;

import org.jspecify.annotations.NullMarked;
