// Tells how long the page took to load, in milliseconds from the click on, and how large it is.
(() => {
  const [load] = performance.getEntriesByType("navigation");
  const [painted] = performance.getEntriesByName("first-contentful-paint");
  if (!painted || !load.loadEventEnd) return null;
  return {
    answered: load.responseEnd, ready: load.domContentLoadedEventEnd, painted: painted.startTime,
    bytes: load.encodedBodySize, nodes: document.querySelectorAll("*").length,
  };
})()
