/** Jobs that are enqueued by the clock. */
@NullMarked
package dev.holdfast.model.schedule;

import org.jspecify.annotations.NullMarked;
