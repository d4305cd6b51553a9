/** Commands on queues, schedules, keys, workers, settings. */
@NullMarked
package dev.holdfast.app.admin;

import org.jspecify.annotations.NullMarked;
