/** Attempts whose worker is gone, and jobs past their deadline. */
@NullMarked
package dev.holdfast.queue.recover;

import org.jspecify.annotations.NullMarked;
