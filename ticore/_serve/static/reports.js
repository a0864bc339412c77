// Reports that the server has written as HTML: inspect and watermark.

import { opensFile } from "./files.js";
import { task } from "./task.js";

const byId = (id) => document.getElementById(id);
// An old example: a model that writes "c" and "old" is read as having written "cold".
const EXAMPLE = { model: "tiny-en", ids: "377 1116 318 278 705 281 1010 4033" };

/** Show markup of the server. It is escaped there, and the policy of the page runs no script in it. */
function put(place, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  place.replaceChildren(...document.adoptNode(parsed.body).childNodes);
}

/** Make the section work. */
export function prepareInspect() {
  const section = byId("inspect");
  const area = byId("inspected");
  const kind = () => section.querySelector('input[name="inspected"]:checked').value;
  const label = () => {
    byId("inspected-label").textContent = kind() === "ids" ? "Numbers, with spaces between them" : "Text";
  };
  section.querySelectorAll('input[name="inspected"]').forEach((box) => box.addEventListener("change", label));
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

/** Make the section work. */
export function prepareWatermark() {
  let agreement = "";
  const open = (text, facts) => {
    agreement = text;
    byId("mark-facts").textContent = facts;
    byId("mark-settings").hidden = byId("mark-settings").disabled = text !== "";
    byId("forget-mark").hidden = text === "";
  };
  opensFile(byId("mark-file"), (text) => open(text || "{}", "An agreement is open. It says what to look for."));
  byId("forget-mark").addEventListener("click", () => {
    open("", "");
    byId("mark-file").focus();
  });
  task(byId("watermark"), "detect", {
    fields: () => ({
      text: byId("suspect").value,
      ...(agreement
        ? { agreement }
        : { key: byId("mark-key").value, scheme: byId("scheme").value, model: byId("mark-model").value }),
    }),
    show: (found) => {
      byId("verdict").textContent = found.sentence;
      byId("verdict").className = found.verdict.startsWith("watermarked") ? "found" : "";
      put(byId("mark-report"), found.html);
    },
  });
}
