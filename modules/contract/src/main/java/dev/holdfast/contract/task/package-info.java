/** The worker protocol of single tasks, for workers in any language. */
@NullMarked
package dev.holdfast.contract.task;

import org.jspecify.annotations.NullMarked;
