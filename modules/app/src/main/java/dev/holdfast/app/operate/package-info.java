/** Operators' commands on the database or on a server. */
@NullMarked
package dev.holdfast.app.operate;

import org.jspecify.annotations.NullMarked;
