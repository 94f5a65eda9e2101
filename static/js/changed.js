// What is read out after a refresh: the state of the group, and how many incidents fire, where they are others now.
(function () {
  "use strict";
  const part = document.querySelector("[data-live]");
  const changed = document.getElementById("changed");
  if (!part) return;
  const states = () =>
    [...document.querySelectorAll("#firing, p.verdict .state")].map((one) => (one.closest("a") ?? one).innerText.trim());
  let before = states();

  document.body.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target !== part) return;
    const now = states();
    const fresh = now.filter((text) => !before.includes(text));
    if (fresh.length) changed.textContent = fresh.join(" · ");
    before = now;
  });
})();
