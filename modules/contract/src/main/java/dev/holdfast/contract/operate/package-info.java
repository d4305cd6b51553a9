/**
 * What an operator can do, whether on the database or through a server.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract.operate;

import org.jspecify.annotations.NullMarked;
