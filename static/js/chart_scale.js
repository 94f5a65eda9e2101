// One switch of all charts of lag on a page, between a linear and a logarithmic scale. The address of the page keeps it.
(function () {
  "use strict";
  const NAME = "scale";
  const buttons = () => [...document.querySelectorAll("[data-scales]")];

  function scaled(address, isLog) {
    const [path, query] = address.split("?");
    const words = new URLSearchParams(query);
    if (isLog) words.set(NAME, "log");
    else words.delete(NAME);
    return `${path}?${words}`;
  }

  function choose(isLog) {
    for (const button of buttons()) {
      button.setAttribute("aria-pressed", isLog);
      delete button.dataset.waits;
      const chart = document.getElementById(button.dataset.scales);
      chart.dataset.figure = scaled(chart.dataset.figure, isLog);
    }
    // Other ranges and clusters of this page.
    for (const link of document.querySelectorAll('.bar a[href^="?"]')) link.setAttribute("href", scaled(link.getAttribute("href"), isLog));
  }

  const isChosen = () => new URLSearchParams(location.search).get(NAME) === "log";
  if (buttons().length) choose(isChosen());
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-scales]")) return;
    history.replaceState(history.state, "", scaled(location.href, !isChosen()));
    choose(isChosen());
    document.dispatchEvent(new Event("rescaled"));
  });
})();
