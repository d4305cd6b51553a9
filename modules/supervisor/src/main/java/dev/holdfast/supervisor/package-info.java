/** Worker processes: started, watched, restarted within limits, stopped. */
@NullMarked
package dev.holdfast.supervisor;

import org.jspecify.annotations.NullMarked;
