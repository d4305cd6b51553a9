/** The page, as somebody in front of it sees it. Who uses this has Selenium as a dependency. */
@NullMarked
package dev.holdfast.testkit.page;

import org.jspecify.annotations.NullMarked;
