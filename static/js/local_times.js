// A time tells on hover what it is where the browser is, beside UTC.
(function () {
  "use strict";
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || /^(Etc\/)?(UTC|GMT|UCT|Zulu)$/.test(zone)) return;
  // Swedish writes 2026-03-14 11:00:00, as the times in UTC are written.
  const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: zone });

  document.addEventListener("pointerover", (event) => {
    const time = event.target.closest("time[datetime][title]");
    if (!time || time.title.endsWith(zone)) return;
    time.title = `${time.title} · ${local.format(new Date(time.dateTime))} ${zone}`;
  });
})();
