/** Where a worker gets its jobs from, and how it survives that source being unavailable. */
@NullMarked
package dev.holdfast.worker.source;

import org.jspecify.annotations.NullMarked;
