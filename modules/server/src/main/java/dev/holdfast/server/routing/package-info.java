/** Routes, and the path of a request from the socket to the route that answers it. */
@NullMarked
package dev.holdfast.server.routing;

import org.jspecify.annotations.NullMarked;
