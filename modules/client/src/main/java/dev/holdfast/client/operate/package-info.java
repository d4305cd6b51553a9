/** What an operator can do, over HTTP. */
@NullMarked
package dev.holdfast.client.operate;

import org.jspecify.annotations.NullMarked;
