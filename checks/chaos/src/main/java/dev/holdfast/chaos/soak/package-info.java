/** A long run without faults: what the processes need must stay the same. */
@NullMarked
package dev.holdfast.chaos.soak;

import org.jspecify.annotations.NullMarked;
