/**
 * Task tokens, and API keys as text.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract.token;

import org.jspecify.annotations.NullMarked;
