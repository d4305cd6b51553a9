/** What is wrong and what to do about it: rules over the state of queues, workers and jobs. */
@NullMarked
package dev.holdfast.model.diagnosis;

import org.jspecify.annotations.NullMarked;
