// Looks at a page as somebody who needs it to be well made, and returns what is wrong with it.
(() => {
  const wrong = [];
  const name = (element) => {
    const told = element.id ? `#${element.id}` : element.className ? `.${String(element.className).replaceAll(" ", ".")}` : "";
    return `<${element.tagName.toLowerCase()}${told}> "${(element.textContent ?? "").trim().slice(0, 40)}"`;
  };
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.getClientRects().length > 0;

  // Nothing is wider than the screen but what scrolls by itself.
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > root.clientWidth && !one.closest(".scroll, pre, .unseen, .skip"));
    wrong.push(`the page is ${root.scrollWidth} wide on a screen of ${root.clientWidth}: ${wide.slice(0, 5).map(name).join(", ")}`);
  }

  // Text stands out from what is behind it.
  const colour = (text) => {
    const parts = /^rgba?\(([^)]+)\)$/.exec(text)?.[1].split(/[\s,/]+/).map(Number);
    if (!parts) {
      wrong.push(`unreadable colour ${text}`);
      return [0, 0, 0, 1];
    }
    return [parts[0], parts[1], parts[2], parts[3] ?? 1];
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const layer = colour(getComputedStyle(at).backgroundColor);
      layers.push(layer);
      if (layer[3] === 1) break;
    }
    const paper = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reverse().reduce((back, layer) => over(layer, back), paper);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const back = behind(element);
    const [a, b] = [light(over(colour(getComputedStyle(element).color), back)), light(back)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const inked = new Set([...document.querySelectorAll("input:not([type=hidden]), select, textarea")].filter(seen));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && seen(element) && !element.closest("script, style, option, .unseen")) inked.add(element);
  }
  for (const element of inked) {
    const ratio = contrast(element);
    if (ratio < 4.5 && !element.matches(":disabled")) wrong.push(`contrast ${ratio.toFixed(2)} of ${name(element)}`);
  }
  if (inked.size < 3) wrong.push("there is nothing to read");

  // The outline of the page.
  const heads = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")];
  const first = heads.filter((one) => one.tagName === "H1");
  if (first.length !== 1) wrong.push(`${first.length} h1`);
  if (heads[0]?.tagName !== "H1") wrong.push(`the first heading is ${heads[0] && name(heads[0])}`);
  heads.reduce((level, one) => {
    const next = Number(one.tagName[1]);
    if (next > level + 1) wrong.push(`from h${level} to ${name(one)}`);
    return next;
  }, 0);
  if (!document.documentElement.lang || !document.title.trim()) wrong.push("no language or title");
  for (const mark of ["main", "header", "footer"]) {
    if (document.querySelectorAll(`body > ${mark}`).length !== 1) wrong.push(`not one ${mark}`);
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption?.textContent.trim()) wrong.push(`no caption: ${name(table)}`);
    for (const head of table.querySelectorAll("th:not([scope])")) wrong.push(`no scope: ${name(head)}`);
  }

  // What is used has a name and is reached with the keyboard.
  for (const input of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!input.labels?.length && !input.getAttribute("aria-label") && !input.getAttribute("aria-labelledby")) wrong.push(`no label: ${name(input)} ${input.name}`);
  }
  for (const one of document.querySelectorAll("a[href], button, summary")) {
    if (!(one.getAttribute("aria-label") ?? one.textContent).trim()) wrong.push(`no name: ${one.outerHTML.slice(0, 80)}`);
  }
  for (const one of document.querySelectorAll("[tabindex]")) {
    if (one.tabIndex > 0) wrong.push(`an order of its own: ${name(one)}`);
  }
  for (const box of document.querySelectorAll(".scroll, pre")) {
    if (box.scrollWidth > box.clientWidth && box.tabIndex < 0 && seen(box)) wrong.push(`scrolls with the mouse only: ${name(box)}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids.filter((one, i) => ids.indexOf(one) !== i))) wrong.push(`two elements are #${id}`);
  for (const of of ["aria-labelledby", "aria-describedby", "for"]) {
    for (const one of document.querySelectorAll(`[${of}]`)) {
      for (const id of one.getAttribute(of).split(/\s+/)) if (!document.getElementById(id)) wrong.push(`${of} of ${name(one)} leads nowhere: ${id}`);
    }
  }
  for (const one of document.querySelectorAll("[style], script:not([src]), style")) wrong.push(`not in a file: ${one.outerHTML.slice(0, 80)}`);
  return wrong;
})()
