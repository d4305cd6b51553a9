/** The HTTP connection to a server: addresses, keys, requests, answers and errors. */
@NullMarked
package dev.holdfast.client.http;

import org.jspecify.annotations.NullMarked;
