// Keeps a page up to date and its times local. Everything works without it.

const main = document.querySelector("main");
const light = document.getElementById("live");

// localise writes times in the zone of who looks; the UTC one stays as a hint.
function localise(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    time.title ||= time.dateTime;
    time.textContent = at.toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" });
  }
}

// place replaces the content of an element, or some rows of its tables. Focus and scrolling stay
// where they were.
function place(piece) {
  const element = document.getElementById(piece.id);
  if (!element) return;
  const focus = document.activeElement;
  const name = (one) => one.id || one.getAttribute("href") || one.dataset.copy || one.getAttribute("aria-label");
  const focused = element.contains(focus) ? name(focus) : null;
  if (piece.rows) {
    const rows = [...element.querySelectorAll("tr")];
    for (const row of piece.rows) if (rows[row.at]) rows[row.at].outerHTML = row.html; // made and escaped by the server
  } else {
    const scrolled = [...element.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    element.innerHTML = piece.html; // as well
    element.querySelectorAll(".scroll").forEach((box, i) => (box.scrollLeft = scrolled[i] ?? 0));
  }
  if (focused && !focus.isConnected) { // what has no name is not found again
    const again = [...element.querySelectorAll("a, button, input, select, [tabindex]")].find(
      (one) => name(one) === focused);
    again?.focus({ preventScroll: true });
  }
  localise(element);
}

function show(state, text) {
  if (!light) return;
  light.className = "live " + state;
  if (light.textContent !== text) light.textContent = text;
}

if (main?.dataset.live) {
  let lost = 0;
  const events = new EventSource(main.dataset.live);
  show("off", "connecting …");
  events.addEventListener("pieces", (event) => {
    clearTimeout(lost);
    const news = JSON.parse(event.data);
    news.pieces.forEach(place);
    show("on", "live");
  });
  events.addEventListener("error", () => {
    // It comes back by itself; only what lasts is worth a word.
    clearTimeout(lost);
    lost = setTimeout(() => show("off", "not live at the moment, trying again"), 5000);
    if (events.readyState === EventSource.CLOSED) show("off", "no longer live: reload the page");
  });
}

localise(document);

// "/" goes to the search, as elsewhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
  const search = document.querySelector("input[type=search]");
  if (search) {
    event.preventDefault();
    search.focus();
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = "Copied";
});

// Times are typed in the zone of who looks, and sent in UTC.
for (const input of document.querySelectorAll("input[data-utc]")) {
  const at = new Date(input.value + "Z");
  if (!isNaN(at)) {
    const local = new Date(at.getTime() - at.getTimezoneOffset() * 60000);
    input.value = local.toISOString().slice(0, 19);
  }
  for (const zone of input.form.querySelectorAll("[data-zone]")) zone.textContent = "";
  input.form.addEventListener("formdata", (event) => {
    const typed = new Date(input.value);
    if (!isNaN(typed)) event.formData.set(input.name, typed.toISOString().slice(0, 19));
  });
}
