// Notes on the page of a group when it tells that a member is gone for good: no shard is left to
// it, the timeline says why and who got its shards, and no member of that name is active. Beside
// that it follows the page's own events, to say after how many rounds of the monitor they told.
((member, heir) => {
  const told = (text) => text.includes("a member was no longer heard") && text.includes(`: ${member} → ${heir}`);
  const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)];
  const gone = () =>
    rows("shardmap").length > 0 && rows("shardmap").every((row) => row.children[1].textContent.trim() === heir) &&
    rows("timeline").some((row) => told(row.textContent)) &&
    !rows("memberlist").some((row) => row.querySelector(".id").textContent === member && row.querySelector(".state").textContent === "active");
  const watch = { gone: 0, rounds: [], told: "" };
  const main = document.querySelector("main");
  new MutationObserver(() => { if (!watch.gone && gone()) watch.gone = Date.now(); }).observe(main, { childList: true, subtree: true });
  const events = new EventSource(main.dataset.live);
  events.addEventListener("pieces", (event) => {
    const news = JSON.parse(event.data);
    const html = (piece) => piece.html ?? piece.rows.map((row) => row.html).join("");
    if (!watch.told && news.pieces.some((piece) => piece.id === "timeline" && told(html(piece)))) watch.told = news.at;
    if (!watch.rounds.includes(news.at)) watch.rounds.push(news.at);
    if (watch.told) events.close();
  });
  window.watch = watch;
  return true;
})
