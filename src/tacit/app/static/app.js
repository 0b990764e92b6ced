"use strict";

// The grid: the container scrolls over the size of the whole table, and the server is asked for
// the part that is in sight. Nothing is kept in the browser.
const ROW = 28, COLUMN = 110, WAIT = 40;

function setUpGrid() {
  const grid = document.getElementById("grid");
  if (!grid || grid.dataset.ready) return;
  grid.dataset.ready = "yes";
  const size = grid.querySelector(".grid-size"), shown = grid.querySelector(".grid-window");
  const rows = Number(grid.dataset.rows), columns = Number(grid.dataset.columns);
  size.style.height = `${(rows + 1) * ROW}px`;
  // As wide as the styles make it.
  const head = () => (matchMedia("(max-width: 56rem)").matches ? 110 : 180);
  size.style.width = `${head() + columns * COLUMN}px`;
  const view = new URLSearchParams(new FormData(document.getElementById("view")));
  let asked = 0, answered = 0, timer = null, wanted = null;

  // Upwards: at the end of the scroll bar the last row and column are in the window.
  const place = () => ({
    top: Math.min(Math.ceil(grid.scrollTop / ROW - 0.05), Math.max(0, rows - 1)),
    left: Math.min(Math.ceil(grid.scrollLeft / COLUMN - 0.05), Math.max(0, columns - 1)),
    height: Math.max(1, Math.floor(grid.clientHeight / ROW) - 1),
    width: Math.max(1, Math.floor((grid.clientWidth - head()) / COLUMN) + 1),
  });

  async function fetchWindow() {
    timer = null;
    const number = ++asked, query = new URLSearchParams(view);
    for (const [key, each] of Object.entries(place())) query.set(key, each);
    const answer = await fetch(`look-window?${query}`, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (answer === null) { tellGone(); return; }
    // Answers may overtake each other: an older one is not shown.
    if (!answer.ok || number < answered) return;
    answered = number;
    shown.innerHTML = await answer.text();
    grid.dataset.top = query.get("top");
    grid.dataset.left = query.get("left");
    if (wanted) { focusOn(wanted.row, wanted.column); wanted = null; }
  }
  const look = () => { if (timer === null) timer = setTimeout(fetchWindow, WAIT); };
  grid.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(grid);

  const at = (row, column) => shown.querySelector(`tr[aria-rowindex="${row}"] > [aria-colindex="${column}"]`);
  function focusOn(row, column) { const found = at(row, column); if (found) found.focus({ preventScroll: true }); }

  function choose(cell) {
    for (const each of shown.querySelectorAll(".chosen")) each.classList.remove("chosen");
    cell.classList.add("chosen");
    htmx.ajax("GET", `look-cell?cell=${cell.dataset.cell}`, { target: "#cell", swap: "innerHTML" });
  }
  shown.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-cell]");
    if (cell) { cell.focus({ preventScroll: true }); choose(cell); }
  });
  const MOVES = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [15, 0], PageUp: [-15, 0] };
  grid.addEventListener("keydown", (event) => {
    const cell = event.target.closest ? event.target.closest("td[data-cell]") : null;
    if (event.key === "Enter" && cell) { choose(cell); event.preventDefault(); return; }
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    if (!cell) { const first = shown.querySelector("td[data-cell]"); if (first) first.focus({ preventScroll: true }); return; }
    const row = Math.min(rows + 1, Math.max(2, Number(cell.parentNode.getAttribute("aria-rowindex")) + move[0]));
    const column = Math.min(columns + 1, Math.max(2, Number(cell.getAttribute("aria-colindex")) + move[1]));
    if (at(row, column)) { focusOn(row, column); return; }
    wanted = { row, column };
    grid.scrollTop += move[0] * ROW;
    grid.scrollLeft += move[1] * COLUMN;
    look();
  });
  const form = document.getElementById("view");
  form.addEventListener("change", () => form.requestSubmit());
  document.getElementById("main").addEventListener("click", (event) => {
    const jump = event.target.closest("[data-jump-row], [data-jump-column]");
    if (!jump) return;
    if (jump.dataset.jumpRow !== undefined) grid.scrollTop = Number(jump.dataset.jumpRow) * ROW;
    if (jump.dataset.jumpColumn !== undefined) grid.scrollLeft = Number(jump.dataset.jumpColumn) * COLUMN;
    grid.focus({ preventScroll: true });
    look();
  });
  look();
}

// Files may be dropped anywhere on the field.
function setUpDrop() {
  const drop = document.getElementById("drop");
  if (!drop || drop.dataset.ready) return;
  drop.dataset.ready = "yes";
  const input = drop.querySelector("input[type=file]");
  for (const name of ["dragover", "dragenter"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; drop.requestSubmit(); }
  });
}

// One help at a time; Escape closes it.
document.addEventListener("toggle", (event) => {
  if (event.target.matches && event.target.matches("details.help[open]"))
    for (const other of document.querySelectorAll("details.help[open]")) if (other !== event.target) other.open = false;
}, true);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const open of document.querySelectorAll("details.help[open]")) { open.open = false; open.querySelector("summary").focus(); }
});

// A form that is saved because a field has changed presses no button. htmx would send the one that
// has the focus by then: whoever goes on by the Tab key would remove a rule, or start a search.
document.addEventListener("htmx:configRequest", (event) => {
  const form = event.detail.elt, cause = event.detail.triggeringEvent;
  if (form.tagName !== "FORM" || !cause || cause.type !== "change") return;
  for (const button of form.querySelectorAll("button[name]")) delete event.detail.parameters[button.name];
});

// A form that was sent comes back while somebody is typing in its next field: what was typed stays.
let typed = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const field = document.activeElement, target = event.detail.target;
  const open = field && field.id && field.matches("input:not([type=radio], [type=checkbox], [type=file]), textarea");
  typed = open && target.contains(field) && field.value !== field.defaultValue ? { id: field.id, value: field.value } : null;
});
document.addEventListener("htmx:afterSwap", () => {
  const field = typed && document.getElementById(typed.id);
  if (field && field.value !== typed.value) {
    field.value = typed.value;
    field.focus();
    // The browser knows of no change: it was made in a field that is gone.
    field.addEventListener("blur", () => field.dispatchEvent(new Event("change", { bubbles: true })), { once: true });
  }
  typed = null;
});

// Requests end unanswered when the page is left, and when the application is gone: the latter is told.
let leaving = false;
window.addEventListener("beforeunload", () => { leaving = true; });
window.addEventListener("pageshow", () => { leaving = false; });
function tellGone() {
  const notices = document.getElementById("notices");
  if (leaving || notices.querySelector(".gone")) return;
  const note = document.createElement("div"), words = document.createElement("p");
  note.className = "note wrong gone";
  note.setAttribute("role", "alert");
  words.textContent = document.body.dataset.gone;
  note.append(words);
  notices.append(note);
  notices.scrollIntoView({ block: "nearest" });
}
document.addEventListener("htmx:sendError", tellGone);

// What goes on changes every second; screen readers are told when it becomes something else.
function say() {
  const said = document.getElementById("said");
  const words = [...document.querySelectorAll("[data-say]")].map((each) => each.dataset.say).join(". ");
  if (said.textContent !== words) said.textContent = words;
}

function setUp() {
  setUpGrid();
  setUpDrop();
  say();
  // htmx notes the address of the page there, history or not.
  sessionStorage.clear();
}
document.addEventListener("DOMContentLoaded", setUp);
document.addEventListener("htmx:afterSwap", setUp);
