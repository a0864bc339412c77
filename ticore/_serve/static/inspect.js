// Inspect: a text token by token.

import { put } from "./markup.js";
import { task } from "./task.js";

const byId = (id) => document.getElementById(id);
// An old example: a model that writes "c" and "old" is read as having written "cold".
const EXAMPLE = { model: "tiny-en", ids: "377 1116 318 278 705 281 1010 4033" };

/** Make the section work. */
export function prepareInspect() {
  const section = byId("inspect");
  const area = byId("inspected");
  const kind = () => section.querySelector('input[name="inspected"]:checked').value;
  const label = () => {
    byId("inspected-label").textContent = kind() === "ids" ? "Numbers, with spaces between them" : "Text";
  };
  section.querySelectorAll('input[name="inspected"]').forEach((box) => box.addEventListener("change", label));
  label(); // a browser that comes back restores what was chosen
  byId("inspect-example").addEventListener("click", () => {
    byId("inspect-model").value = EXAMPLE.model;
    section.querySelector('input[value="ids"]').checked = true;
    label();
    area.value = EXAMPLE.ids;
    section.querySelector("form").requestSubmit();
  });
  task(section, "inspect", {
    fields: () => {
      const given = kind() === "ids" ? { ids: idsOf(area.value) } : { text: area.value };
      return { model: byId("inspect-model").value, ...given };
    },
    show: (found) => put(section.querySelector(".report"), found.html),
  });
}

function idsOf(text) {
  const parts = text.split(/[\s,[\]]+/).filter(Boolean);
  if (!parts.every((part) => /^\d{1,9}$/.test(part))) {
    throw new Error("expected token ids, such as 1 2 3, found something else; write numbers with spaces between them");
  }
  return parts.map(Number);
}
