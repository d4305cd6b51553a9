/** An attempt ends: succeeded, failed, released. */
@NullMarked
package dev.holdfast.queue.settle;

import org.jspecify.annotations.NullMarked;
