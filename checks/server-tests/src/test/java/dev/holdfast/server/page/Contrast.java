package dev.holdfast.server.page;

/** The contrast of text as WCAG 2 defines it. */
final class Contrast {
  /** Returns each text that is below 4.5 to 1, with the figure. Disabled controls are exempt. */
  static final String TOO_WEAK =
      """
      const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      const rgba = (color) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
      };
      const over = ([r, g, b, a], below) =>
        [r, g, b].map((value, i) => (value * a) / 255 + below[i] * (1 - a / 255));
      const behind = (element) => {
        if (!element) return [255, 255, 255];
        const own = rgba(getComputedStyle(element).backgroundColor);
        return own[3] === 255 ? own.slice(0, 3) : over(own, behind(element.parentElement));
      };
      const luminance = (color) => {
        const [r, g, b] = color.map((value) => value / 255)
          .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const weak = new Set();
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const element = text.parentElement;
        if (!text.data.trim() || !element.checkVisibility() || element.closest(':disabled, svg, .hidden')) continue;
        const ground = behind(element);
        const [more, less] = [luminance(over(rgba(getComputedStyle(element).color), ground)), luminance(ground)]
          .sort((a, b) => b - a);
        const ratio = (more + 0.05) / (less + 0.05);
        if (ratio < 4.5) weak.add(`${text.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
      }
      return [...weak].join('; ');
      """;

  private Contrast() {}
}
