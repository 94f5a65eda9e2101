// Refreshes the live part of the page in place: asks only while the tab is seen, keeps what the reader is doing,
// and where the server does not answer marks what is shown as old, and says how old.
(function () {
  "use strict";
  const part = document.querySelector("[data-live]");
  const lost = document.getElementById("lost");
  if (!part) return;
  const [problem, age] = lost.children;
  const every = Number(part.dataset.every) * 1000;
  const CAP_SECONDS = 30 * 86_400;
  let refreshedAt = new Date();
  let askedAt = Date.now();
  let kept = {};

  function ask() {
    askedAt = Date.now();
    htmx.trigger(part, "refresh");
  }

  function isBusy() {
    const selection = document.getSelection();
    return selection && !selection.isCollapsed && part.contains(selection.anchorNode);
  }

  function say(text) {
    lost.classList.add("shown");
    document.documentElement.dataset.stale = "";
    const said = `${text} · ${lost.dataset.since} ${pageClock(refreshedAt)}`;
    // Said aloud once, and not with every question that stays without an answer.
    if (problem.textContent !== said) problem.textContent = said;
    tellAge();
  }

  function tellAge() {
    const seconds = Math.floor((Date.now() - refreshedAt) / 1000);
    const sizes = [[1, 120], [60, 7200], [3600, 172_800], [86_400, Infinity]];
    const place = sizes.findIndex(([, below]) => seconds < below);
    const [size, unit] = [sizes[place][0], lost.dataset.units.split(" ")[place]];
    const [sign, shown] = seconds > CAP_SECONDS ? ["> ", CAP_SECONDS] : ["", seconds];
    age.textContent = lost.dataset.old.replace("{age}", `${sign}${Math.floor(shown / size)} ${unit}`);
  }

  setInterval(() => {
    if (lost.classList.contains("shown")) tellAge();
    if (!document.hidden && !isBusy() && Date.now() - askedAt >= every) ask();
  }, 250);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && Date.now() - askedAt >= every) ask();
  });

  // htmx gives the focus back to what has an id. Of all else it is known by what it leads to or says.
  const CAN_FOCUS = "a[href], button, summary, [tabindex]";
  const named = (element) =>
    element.matches("summary") ? "summary" : element.getAttribute("href") ?? element.textContent.trim();

  function focused() {
    const held = document.activeElement;
    const root = held.id || !held.matches(CAN_FOCUS) ? null : held.closest("[id]");
    if (!root) return null;
    const alike = [...root.querySelectorAll(CAN_FOCUS)].filter((element) => named(element) === named(held));
    return { root: root.id, name: named(held), place: alike.indexOf(held) };
  }

  function focusAgain(held) {
    if (!held || document.activeElement !== document.body) return;
    const root = document.getElementById(held.root);
    const alike = [...(root?.querySelectorAll(CAN_FOCUS) ?? [])].filter((element) => named(element) === held.name);
    alike[held.place]?.focus({ preventScroll: true });
  }

  // A reply to a question that has been asked again since is out of date: hx-sync="this:replace" drops it.
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target !== part || event.detail.xhr.status !== 200) return;
    if (isBusy()) event.detail.shouldSwap = false;
    kept = {
      focus: focused(),
      open: [...document.querySelectorAll("details[id][open]")].map((element) => element.id),
      ticked: [...part.querySelectorAll("input[type=checkbox][id]")].map((element) => [element.id, element.checked]),
      scrolled: [...document.querySelectorAll(".scroll[id]")].map((element) => [element.id, element.scrollLeft]),
    };
  });
  // Before anything is painted: what was open and scrolled is so again.
  document.body.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== part) return;
    (kept.open || []).forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    (kept.ticked || []).forEach(([id, checked]) => {
      const element = document.getElementById(id);
      if (element) element.checked = checked;
    });
    (kept.scrolled || []).forEach(([id, left]) => {
      const element = document.getElementById(id);
      if (element) element.scrollLeft = left;
    });
    focusAgain(kept.focus);
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt !== part || !event.detail.successful) return;
    refreshedAt = new Date();
    lost.classList.remove("shown");
    delete document.documentElement.dataset.stale;
    problem.textContent = age.textContent = "";
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.body.addEventListener(name, () => say(lost.dataset.unreachable));
  }
  document.body.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    const isSentence = event.detail.xhr.getResponseHeader("Content-Type")?.startsWith("text/plain") && responseText.length < 200;
    say(`${lost.dataset.failed} ${status}${isSentence ? `: ${responseText}` : ""}`);
  });
})();
