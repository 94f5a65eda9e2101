// What asks for itself until its answer is there would wait for ever after one question that was not answered: it asks
// again, and says meanwhile why.
(function () {
  "use strict";
  const lost = document.getElementById("lost");
  const [problem] = lost.children;
  const PAUSE = 5000;

  function say(text) {
    problem.textContent = text;
    lost.classList.toggle("shown", text !== "");
  }

  for (const name of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
    document.body.addEventListener(name, ({ detail }) => {
      const status = name === "htmx:responseError" ? detail.xhr.status : 0;
      say(status ? `${lost.dataset.failed} ${status}` : lost.dataset.unreachable);
      // Other failures stay as they are, however often it is asked.
      if (status === 0 || status === 503) setTimeout(() => htmx.trigger(detail.elt, "again"), PAUSE);
    });
  }
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful) say("");
  });
})();
