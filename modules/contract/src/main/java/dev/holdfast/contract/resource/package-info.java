/** Jobs, queues, schedules and workers as resources. */
@NullMarked
package dev.holdfast.contract.resource;

import org.jspecify.annotations.NullMarked;
