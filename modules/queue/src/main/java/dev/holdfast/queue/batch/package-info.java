/**
 * Claims of many jobs that write one row, and the jobs in them.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.queue.batch;

import org.jspecify.annotations.NullMarked;
