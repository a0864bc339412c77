// Detect: whether a text has a watermark, of one key or of a list of configurations.

import { ask } from "./ask.js";
import { opensFile, saveFile } from "./files.js";
import { sharedMark } from "./mark-sharing.js";
import { put } from "./markup.js";
import { task, trying } from "./task.js";

const byId = (id) => document.getElementById(id);
let configurations = ""; // the text of a list; empty: what writer and detector share counts
let numbers = ""; // of the last verdict

/** Make the section work. */
export function prepareDetect() {
  const section = byId("detect");
  task(section, "detect", {
    fields: () => ({ ...lookedFor(), text: byId("suspect").value }),
    show: (found) => {
      numbers = JSON.stringify(found.json, null, 2);
      showVerdict(section, found);
    },
  });
  opensFile(byId("list-file"), (text) => trying(byId("list-error"), () => openList(text)));
  byId("forget-list").addEventListener("click", () => {
    use("", "");
    byId("list-file").focus();
  });
  byId("save-detection").addEventListener("click", () => saveFile("detection.json", numbers));
}

/** Show what the detector says, in the section's `.verdict-said` and `.report`. */
export function showVerdict(section, found) {
  put(section.querySelector(".verdict-said"), found.said);
  put(section.querySelector(".report"), found.html);
}

function lookedFor() {
  const tokenizations = byId("search-tokens").checked ? "search" : "places";
  if (configurations) return { configurations, model: byId("mark-model").value, tokenizations };
  return { ...sharedMark(), tokenizations };
}

async function openList(text) {
  const { configurations: count } = await ask("open-configurations", { configurations: text });
  use(text, `A list is open, with ${count} ${count === 1 ? "configuration" : "configurations"}. It holds their keys.`);
}

function use(text, facts) {
  configurations = text;
  byId("list-facts").textContent = facts;
  byId("forget-list").hidden = text === "";
}
