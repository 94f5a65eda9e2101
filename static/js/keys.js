// "/" goes to the search; Escape, or a press elsewhere, closes an open menu.
(function () {
  "use strict";
  const menus = () => document.querySelectorAll("details.menu[open]");

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      menus().forEach((menu) => {
        const held = menu.contains(document.activeElement);
        menu.removeAttribute("open");
        if (held) menu.querySelector("summary").focus();
      });
    }
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = document.getElementById("search");
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    }
  });
  document.addEventListener("click", (event) => {
    menus().forEach((menu) => {
      if (!menu.contains(event.target)) menu.removeAttribute("open");
    });
  });
})();
