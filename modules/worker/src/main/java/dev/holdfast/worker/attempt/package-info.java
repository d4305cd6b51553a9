/** One attempt: started, run, judged, settled, cleaned up. */
@NullMarked
package dev.holdfast.worker.attempt;

import org.jspecify.annotations.NullMarked;
