package dev.holdfast.server.page;

import java.util.regex.Pattern;

/** Text becomes part of a page here, and only escaped. */
public final class Html {
  private static final Pattern CODE = Pattern.compile("`([^`]*)`");
  private static final Pattern EMPTY_LINE = Pattern.compile("\\n\\s*\\n");

  private final StringBuilder page = new StringBuilder(64 << 10);

  static String escaped(String text) {
    StringBuilder safe = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> safe.append("&amp;");
        case '<' -> safe.append("&lt;");
        case '>' -> safe.append("&gt;");
        case '"' -> safe.append("&quot;");
        case '\'' -> safe.append("&#39;");
        default -> safe.append(c);
      }
    }
    return safe.toString();
  }

  /** What stands between backticks is code; there is no other markup. */
  static String line(String text) {
    return CODE.matcher(escaped(text.strip())).replaceAll("<code>$1</code>");
  }

  public static String code(String text) {
    return "<code>" + escaped(text) + "</code>";
  }

  static String link(String anchor, String text) {
    return "<a href=\"#" + escaped(anchor) + "\">" + escaped(text) + "</a>";
  }

  /** As it is: made of the above. */
  Html raw(String markup) {
    page.append(markup).append('\n');
    return this;
  }

  Html paragraphs(String text) {
    if (!text.isBlank()) {
      for (String paragraph : EMPTY_LINE.split(text.strip(), -1)) {
        raw("<p>" + line(paragraph) + "</p>");
      }
    }
    return this;
  }

  Html row(String... cells) {
    page.append("<tr>");
    for (String cell : cells) {
      page.append("<td>").append(cell).append("</td>");
    }
    page.append("</tr>\n");
    return this;
  }

  Html table(String... heads) {
    page.append("<table><thead><tr>");
    for (String head : heads) {
      page.append("<th>").append(escaped(head)).append("</th>");
    }
    page.append("</tr></thead><tbody>\n");
    return this;
  }

  Html endTable() {
    return raw("</tbody></table>");
  }

  @Override
  public String toString() {
    return page.toString();
  }
}
