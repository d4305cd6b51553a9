/** Values without a lifecycle of their own: JSON texts, ids, limits, refusals. */
@NullMarked
package dev.holdfast.model.value;

import org.jspecify.annotations.NullMarked;
