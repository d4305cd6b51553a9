/**
 * What is wrong and what to do about it: rules over the state of queues, workers and jobs.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.operate.diagnosis;

import org.jspecify.annotations.NullMarked;
