// The contrast of text with its background, as WCAG 2.2 defines it.

/**
 * Runs in a page. Returns a line for each visible text whose contrast is below 4.5 to 1; texts of disabled controls and
 * decoration are left out.
 */
export function lowContrast() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = ([r, g, b]) => {
    const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      if (color[3] === 255) return color;
    }
    return rgba(getComputedStyle(document.body).backgroundColor);
  };
  const low = [];
  const check = (element, color, text) => {
    const pair = [luminance(rgba(color)), luminance(background(element))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) low.push(`${contrast.toFixed(2)}: ${text.trim().slice(0, 40)}`);
  };
  for (const element of document.body.querySelectorAll('*')) {
    if (!element.checkVisibility() || element.closest('[aria-hidden], :disabled, .spoken')) continue;
    const own = [...element.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data).join('');
    if (own.trim()) check(element, getComputedStyle(element).color, own);
    if (element.placeholder) check(element, getComputedStyle(element, '::placeholder').color, element.placeholder);
  }
  return low;
}
