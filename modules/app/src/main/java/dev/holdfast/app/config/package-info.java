/** Every setting: one typed record for each concern, and what is made of them. */
@NullMarked
package dev.holdfast.app.config;

import org.jspecify.annotations.NullMarked;
