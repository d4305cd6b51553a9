/**
 * Jobs, queues, schedules and workers as resources.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract.resource;

import org.jspecify.annotations.NullMarked;
