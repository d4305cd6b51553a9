/** holdfast.yaml: single settings, and what it says about each handler, runtime and queue. */
@NullMarked
package dev.holdfast.app.config.file;

import org.jspecify.annotations.NullMarked;
