/** LISTEN and NOTIFY: who waits for work is told that there is some. */
@NullMarked
package dev.holdfast.queue.notify;

import org.jspecify.annotations.NullMarked;
