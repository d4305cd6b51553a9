/** How commands reach the jobs: options for the connection, and checks of names. */
@NullMarked
package dev.holdfast.app.operate;

import org.jspecify.annotations.NullMarked;
