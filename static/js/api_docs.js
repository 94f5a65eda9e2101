// What Swagger UI leaves unnamed or nested, for a keyboard and a screen reader: named as its blocks come and go.
(function () {
  "use strict";
  const page = document.getElementById("swagger-ui");
  const each = (selector, mend) => page.querySelectorAll(selector).forEach(mend);
  const name = (label) => (node) => node.setAttribute("aria-label", label);

  function mend() {
    each(".information-container", (node) => {
      node.setAttribute("role", "region");
      name("About the API")(node);
    });
    each(".modal-ux", (node) => {
      node.setAttribute("role", "dialog");
      node.setAttribute("aria-modal", "true");
      name("Authorize")(node);
    });
    each(".close-modal", name("Close"));
    // Below the one h1 come h3, h4 and h5.
    each(":is(#operations, .modal-ux) :is(h3, h4, h5)", (node) => node.setAttribute("aria-level", Number(node.tagName[1]) - 1));
    // The button opens its operation, whose address the page then has: a link within is one control too many.
    each(".opblock-summary-control a[href]", (node) => node.removeAttribute("href"));
    each(".examples-select-element", name("Example"));
    each("[data-param-name] select", (node) => name(node.closest("[data-param-name]").dataset.paramName)(node));
    each(".body-param__text", name("Request body"));
    each(".microlight", (node) => { node.tabIndex = 0; });
    each(".responses-table", (node) => {
      const block = node.closest(".opblock");
      const said = [".opblock-summary-method", ".opblock-summary-path"].map((one) => block.querySelector(one).textContent);
      name(`Responses of ${said.join(" ")}`)(node);
    });
  }

  new MutationObserver(mend).observe(page, { childList: true, subtree: true });
})();
