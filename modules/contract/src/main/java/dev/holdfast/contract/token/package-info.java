/** The tokens with which a task is reported on. */
@NullMarked
package dev.holdfast.contract.token;

import org.jspecify.annotations.NullMarked;
