/** What can be broken, and the schedule by which it is. */
@NullMarked
package dev.holdfast.chaos.fault;

import org.jspecify.annotations.NullMarked;
