/** Task tokens, and API keys as text. */
@NullMarked
package dev.holdfast.contract.token;

import org.jspecify.annotations.NullMarked;
