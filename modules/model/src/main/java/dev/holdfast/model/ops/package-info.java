/** What operators see: queues, workers, findings, keys. */
@NullMarked
package dev.holdfast.model.ops;

import org.jspecify.annotations.NullMarked;
