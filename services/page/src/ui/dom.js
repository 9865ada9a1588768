/** Elements without a framework. Text is always text: nothing here reads markup. */

/**
 * @param {string} tag with classes, such as `p.note`
 * @param {Record<string, any>} properties `on…` are listeners; others are attributes, left out if null or false
 * @param {...(Node | string | null | undefined)} children
 * @returns {any} the element
 */
export function h(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  set(element, properties);
  element.append(...children.filter((child) => child !== null && child !== undefined).map(joined));
  return element;
}

/** @param {Node | string | null | undefined} child @returns {any} it, whose numbers stay on one line with their units if it is text */
const joined = (child) => (typeof child === "string" ? child.replace(/(\d|%) (?=%|HP\b)/g, "$1\u00a0") : child);

const SVG = "http://www.w3.org/2000/svg";

/** As `h`, for pictures. @param {string} name @param {Record<string, any>} properties @param {...(Node | string)} children @returns {any} */
export function svg(name, properties = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  set(element, properties);
  element.append(...children.map(joined));
  return element;
}

/** @param {Element} element @param {Record<string, any>} properties */
function set(element, properties) {
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
}

/** @param {number} share @param {string} [classes] @returns {any} a bar of that length */
export function meter(share, classes = "") {
  const width = Math.max(0, Math.min(100, 100 * share));
  return svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: `meter ${classes}`, "aria-hidden": "true" },
    svg("rect", { width: 100, height: 10, class: "empty" }), svg("rect", { width, height: 10, class: "full" }));
}

/** @param {number} share @returns {string} a whole percentage */
export const percent = (share) => `${Math.round(100 * share)} %`;
