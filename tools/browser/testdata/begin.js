// Runs in every document before its own scripts. Notes dialogs, which no page has, and what
// moves without the user's doing.
for (const name of ["alert", "confirm", "prompt"]) {
  window[name] = (text) => console.error(`a dialog (${name}): ${text}`);
}
window.moved = [];
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) {
    if (shift.hadRecentInput) continue;
    const what = shift.sources.map((one) => {
      const element = one.node?.nodeType === 1 ? one.node : one.node?.parentElement;
      const box = (rect) => `${rect.x},${rect.y} ${rect.width}x${rect.height}`;
      return `${element?.tagName}.${element?.className} "${element?.textContent?.slice(0, 40)}" ${box(one.previousRect)} -> ${box(one.currentRect)}`;
    });
    window.moved.push({ at: shift.startTime, what: `${shift.value}: ${what.join("; ")}` });
  }
}).observe({ type: "layout-shift", buffered: true });
