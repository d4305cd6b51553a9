/**
 * What clients ask for: jobs to enqueue, changes, and jobs that a verb is for.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract.request;

import org.jspecify.annotations.NullMarked;
