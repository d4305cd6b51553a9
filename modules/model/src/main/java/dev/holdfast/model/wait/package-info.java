/** What a handler may wait for while its job holds nothing, and what ends such a wait. */
@NullMarked
package dev.holdfast.model.wait;

import org.jspecify.annotations.NullMarked;
