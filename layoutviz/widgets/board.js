// The Board's front end: shows the SVG that Python made, lights up cells that are linked, reports what is picked.
//
// Python owns the state (svg, caption, picked, walked, multiple). All a cell says is in the SVG: data-k is the value that links it, data-t
// its tip. Boards of one output find each other in the page, through two events: lv-hover and lv-pick.

const SVG_NS = "http://www.w3.org/2000/svg";
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const pen = document.createElement("canvas").getContext("2d");

// spread the characters of labels to the width that Python counts with; a canvas measures even before the picture is in the page
function fitLabels(picture) {
  pen.font = `100px ${picture.getAttribute("font-family")}`;
  const advance = pen.measureText("0").width / 100; // of a character, in font sizes
  for (const labels of picture.querySelectorAll("[data-advance]")) {
    labels.style.letterSpacing = `${labels.dataset.advance - advance * labels.getAttribute("font-size")}px`;
  }
}

function render({ model, el }) {
  const frame = document.createElement("div");
  frame.className = "lv-frame";
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Layout board. Arrow keys move from cell to cell, Enter picks one.");
  const [caption, say] = ["lv-caption", "lv-say"].map((name) => {
    const line = document.createElement("div");
    line.className = name;
    return line;
  });
  say.setAttribute("aria-live", "polite");
  el.classList.add("lv-board");
  el.append(frame, say, caption);

  let cells = []; // the <rect>s in the order of the scene
  let hovered = null; // link value under the pointer or the cursor, on any board of this output
  let pointed = null; // the very cell under the pointer or the cursor, on this board
  let settling = 0; // the timer after which the frame fits its picture again
  let cursor = -1; // where the arrow keys are, or a step

  // A board and the boards that it answers: those of one output, or of the page where there are no outputs.
  const peers = () => (el.closest(".jp-OutputArea, .cell-output, .output") ?? document.body).querySelectorAll(".lv-board");
  const linked = () => frame.querySelector("svg.lv")?.dataset.link; // an offset 1 is not an index 1: boards answer their own kind
  const tell = (name, value) => send(name, { value, link: linked() });
  const send = (name, detail) => peers().forEach((peer) => peer.dispatchEvent(new CustomEvent(name, { detail })));
  const key = (cell) => cell.dataset.k; // text: a number in JavaScript ends at 2^53
  const tip = (cell) => cell.dataset.t;

  function paint() {
    frame.innerHTML = model.get("svg");
    caption.textContent = model.get("caption");
    cells = [...frame.querySelectorAll("rect[data-k]")];
    const picture = frame.querySelector("svg.lv");
    fitLabels(picture);
    // in a narrow page the picture shrinks, but not so far that labels fall below 8 px: then it scrolls
    const font = Number(frame.querySelector(".labels")?.getAttribute("font-size") ?? 8);
    picture.style.minWidth = `${Math.ceil((picture.viewBox.baseVal.width * 8) / font)}px`;
    if (cursor >= cells.length) cursor = -1;
    pointed = null;
    // while pictures follow each other the frame grows but does not shrink, so that what stands below does not jump
    frame.style.minHeight = `${Math.max(frame.offsetHeight, parseFloat(frame.style.minHeight) || 0)}px`;
    clearTimeout(settling);
    settling = setTimeout(() => (frame.style.minHeight = ""), 3000);
    light();
  }

  function outline(cell, kind) {
    const box = document.createElementNS(SVG_NS, "rect");
    for (const name of ["x", "y", "width", "height"]) box.setAttribute(name, cell.getAttribute(name));
    box.setAttribute("class", kind);
    return box;
  }

  function light() {
    const picked = new Set(model.get("picked"));
    const boxes = [];
    cells.forEach((cell, n) => {
      if (picked.has(key(cell))) boxes.push(outline(cell, "lv-picked"), outline(cell, "lv-pin"));
      if (key(cell) === hovered) boxes.push(outline(cell, "lv-lit"));
      if (n === cursor && (document.activeElement === frame || cursor === model.get("walked"))) boxes.push(outline(cell, "lv-cursor"));
    });
    frame.querySelector(".lights")?.replaceChildren(...boxes);
    const shown = hovered ?? model.get("picked").at(-1);
    const first = hovered === null ? cells[model.get("walked")] : pointed; // what is said begins with the very cell
    const told = cells.filter((cell) => key(cell) === shown).sort((a, b) => (b === first) - (a === first)).map(tip);
    say.textContent = told.slice(0, 3).join("   |   ") + (told.length > 3 ? `   and ${told.length - 3} more` : "");
  }

  function pick(value) {
    const before = model.get("picked");
    const without = before.filter((other) => other !== value);
    const added = model.get("multiple") ? [...before, value] : [value];
    tell("lv-pick", without.length < before.length ? without : added);
  }

  function move([dx, dy]) {
    const at = (cell) => [Number(cell.getAttribute("x")), Number(cell.getAttribute("y"))];
    if (cursor < 0) cursor = 0;
    else {
      const [x, y] = at(cells[cursor]);
      // sideways stays in its row; up and down take the nearest row, then the nearest cell in it
      const ahead = cells
        .map((cell, n) => ({ n, x: at(cell)[0] - x, y: at(cell)[1] - y }))
        .filter((c) => (dx ? c.y === 0 && c.x * dx > 0 : c.y * dy > 0))
        .sort((a, b) => Math.abs(a.y) - Math.abs(b.y) || Math.abs(a.x) - Math.abs(b.x));
      if (ahead.length) cursor = ahead[0].n;
    }
    if (!cells[cursor]) return;
    cells[cursor].scrollIntoView({ block: "nearest", inline: "nearest" });
    pointed = cells[cursor];
    tell("lv-hover", key(pointed));
    light(); // the cursor has moved even where the value is the same
  }

  function walk() {
    cursor = model.get("walked");
    light();
  }

  frame.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("rect[data-k]");
    pointed = cell;
    tell("lv-hover", cell ? key(cell) : null);
    light(); // another cell of the same value
  });
  frame.addEventListener("pointerleave", () => tell("lv-hover", null));
  frame.addEventListener("click", (event) => {
    const cell = event.target.closest("rect[data-k]");
    if (cell) pick(key(cell));
  });
  frame.addEventListener("keydown", (event) => {
    if (STEPS[event.key]) move(STEPS[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && !event.shiftKey && !event.ctrlKey && cells[cursor]) pick(key(cells[cursor]));
    else if (event.key === "Escape") tell("lv-hover", null);
    else return;
    event.preventDefault();
    event.stopPropagation(); // or the notebook takes the arrows for itself
  });
  frame.addEventListener("focus", light);
  frame.addEventListener("blur", light);
  el.addEventListener("lv-hover", ({ detail }) => {
    const value = detail.link === linked() ? detail.value : null;
    if (hovered === value) return;
    hovered = value;
    light();
  });
  el.addEventListener("lv-pick", ({ detail }) => {
    if (detail.link !== linked()) return;
    model.set("picked", detail.value);
    model.save_changes();
  });

  model.on("change:svg", paint);
  model.on("change:picked", light);
  model.on("change:walked", walk);
  paint();
  return () => {
    model.off("change:svg", paint);
    model.off("change:picked", light);
    model.off("change:walked", walk);
  };
}

export default { render };
