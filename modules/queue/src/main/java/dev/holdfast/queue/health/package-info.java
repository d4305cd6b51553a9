/** Worker processes and their supervisors. */
@NullMarked
package dev.holdfast.queue.health;

import org.jspecify.annotations.NullMarked;
