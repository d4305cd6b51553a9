/** Operators' commands: cancel, retry, and what a running job is asked to do. */
@NullMarked
package dev.holdfast.queue.command;

import org.jspecify.annotations.NullMarked;
