/** Jobs as they are shown: one, a list, counts, changes. */
@NullMarked
package dev.holdfast.queue.read;

import org.jspecify.annotations.NullMarked;
