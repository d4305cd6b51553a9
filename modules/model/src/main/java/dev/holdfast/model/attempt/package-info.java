/** One attempt of a job: the lease, what the worker reports during it, and how it is settled. */
@NullMarked
package dev.holdfast.model.attempt;

import org.jspecify.annotations.NullMarked;
