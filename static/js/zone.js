// Tells the server how far the browser's clock is from UTC: it writes times as that clock says them.
(function () {
  "use strict";
  const { zone, utcOffset } = document.documentElement.dataset;
  // As the times that the server wrote on the page.
  window.pageClock = (at) => `${new Date(at.getTime() + utcOffset * 60_000).toISOString().slice(11, 19)} ${zone}`;

  const minutes = String(-new Date().getTimezoneOffset());
  const told = () => document.cookie.match(/(?:^|; )utc_offset=([^;]*)/)?.[1] ?? "0";
  if (told() === minutes) return;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `utc_offset=${minutes}; path=/; max-age=31536000; samesite=lax${secure}`;
  // A page that refreshes itself would say its parts' times by another clock than the rest.
  const isOld = document.documentElement.dataset.times === "local" && document.querySelector("[data-live]");
  if (isOld && told() === minutes) location.reload();
})();
