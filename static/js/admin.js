// The lists to choose from are made by Django's script when the page is loaded. It gives the labels of their filters a
// name, but no role that may have one.
"use strict";

window.addEventListener("load", () => {
  for (const icon of document.querySelectorAll(".selector span[aria-label]")) icon.setAttribute("role", "img");
});
