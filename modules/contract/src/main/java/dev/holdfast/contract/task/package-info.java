/**
 * The worker protocol of single tasks, for workers in any language.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract.task;

import org.jspecify.annotations.NullMarked;
