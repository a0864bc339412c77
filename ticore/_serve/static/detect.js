// Detect: whether a text has a watermark.

import { sharedMark } from "./mark-sharing.js";
import { put } from "./markup.js";
import { task } from "./task.js";

const byId = (id) => document.getElementById(id);

/** Make the section work. */
export function prepareDetect() {
  const section = byId("detect");
  task(section, "detect", {
    fields: () => ({ ...sharedMark(), text: byId("suspect").value }),
    show: (found) => showVerdict(section, found),
  });
}

/** Show what the detector says, in the section's `.verdict-said` and `.report`. */
export function showVerdict(section, found) {
  const said = section.querySelector(".verdict-said");
  said.textContent = found.sentence;
  said.classList.toggle("found", found.verdict.startsWith("watermarked"));
  put(section.querySelector(".report"), found.html);
}
