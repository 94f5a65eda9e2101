// Opens the page that could not be shown, as soon as the server has it again. Asks only while the tab is seen.
(function () {
  "use strict";
  const note = document.getElementById("again");
  const every = Number(note.dataset.every) * 1000;
  note.textContent = note.dataset.asks;

  async function ask() {
    if (document.hidden) return;
    let status;
    try {
      status = (await fetch(location.href, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(every) })).status;
    } catch {
      // The server itself is away: the next question may reach it.
      return;
    }
    if (status === 503) return;
    // Once: what comes may be a file, and then this page stays.
    clearInterval(timer);
    note.textContent = note.dataset.back;
    location.reload();
  }

  const timer = setInterval(ask, every);
})();
