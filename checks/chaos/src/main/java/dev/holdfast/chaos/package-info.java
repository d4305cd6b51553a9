/**
 * {@code ./chaos}: jobs on real processes, faults under load, and a check of what became of all.
 */
@NullMarked
package dev.holdfast.chaos;

import org.jspecify.annotations.NullMarked;
