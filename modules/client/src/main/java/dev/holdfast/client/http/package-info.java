/**
 * The HTTP connection to a server: addresses, keys, requests, answers and errors.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.client.http;

import org.jspecify.annotations.NullMarked;
