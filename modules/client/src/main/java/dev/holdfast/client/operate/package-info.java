/** What an operator can do, on the database or through a server. */
@NullMarked
package dev.holdfast.client.operate;

import org.jspecify.annotations.NullMarked;
