// Words on figures that would lie upon each other: called by charts.js.
window.chartLabels = (function () {
  "use strict";
  // Words above a plot that would lie upon each other: the newest stay. The others keep their line, and what a pointer
  // finds.
  function makeRoom(element) {
    const isAbove = (said) => said.xref === "x" && said.y === 1 && said.yanchor === "bottom";
    const words = [...element.querySelectorAll(".annotation")].filter((one) => isAbove(element.layout.annotations[one.dataset.index]));
    const placed = words.map((one) => [one, one.getBoundingClientRect()]).sort(([, one], [, other]) => other.right - one.right);
    let edge = Infinity;
    for (const [one, box] of placed) {
      const fits = box.right <= edge;
      one.style.opacity = fits ? 1 : 0;
      if (fits) edge = box.left;
    }
  }

  // A legend of a narrow chart stands line under line, below the dates, and takes no height from the chart; of two
  // captions above it the left one stands above the other.
  const NARROW = 480;
  function fit({ data, layout }, width) {
    if (width >= NARROW) return;
    if (layout.showlegend) {
      layout.height = 230 + 19 * data.filter((one) => one.showlegend !== false).length;
      layout.legend.y = -0.38;
    }
    const captions = layout.annotations.filter((one) => one.xref === "paper" && one.yanchor === "bottom");
    if (!captions.some((one) => one.xanchor === "right") || captions.length < 2) return;
    for (const one of captions.filter((one) => one.xanchor === "left")) one.yshift = (one.yshift ?? 0) + 14;
    layout.margin.t += 14;
  }

  return { fit, makeRoom };
})();
