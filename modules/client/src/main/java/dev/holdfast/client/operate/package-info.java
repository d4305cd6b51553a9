/**
 * What an operator can do, through a server.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.client.operate;

import org.jspecify.annotations.NullMarked;
