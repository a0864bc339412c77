// The page: one section at a time, by the address's fragment. Nothing of what is typed is in it.

import { fillChoices } from "./choices.js";
import { prepareRead } from "./read.js";
import { prepareInspect, prepareWatermark } from "./reports.js";
import { prepareSharing } from "./sharing.js";
import { say } from "./task.js";
import { prepareWrite } from "./write.js";

const SECTIONS = ["write", "read", "inspect", "watermark"];
const OF_MESSAGES = ["write", "read"];

function show(moveFocus) {
  const asked = location.hash.slice(1);
  const name = SECTIONS.includes(asked) ? asked : SECTIONS[0];
  for (const each of SECTIONS) document.getElementById(each).hidden = each !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.getElementById("sharing").hidden = !OF_MESSAGES.includes(name);
  if (moveFocus) {
    document.getElementById(`${name}-title`).focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

addEventListener("hashchange", () => show(true));
show(false);
for (const prepare of [prepareWrite, prepareRead, prepareInspect, prepareWatermark]) prepare();
try {
  await fillChoices();
  prepareSharing();
} catch (error) {
  say(document.getElementById("page-error"), error.message);
}
