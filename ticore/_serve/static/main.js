// The page: one section at a time, by the address's fragment. Nothing of what is typed is in it.

import { fillChoices } from "./choices.js";
import { prepareDetect } from "./detect.js";
import { prepareInspect } from "./inspect.js";
import { prepareMark } from "./mark.js";
import { prepareMarkSharing } from "./mark-sharing.js";
import { prepareRead } from "./read.js";
import { prepareSharing } from "./sharing.js";
import { say } from "./task.js";
import { prepareWrite } from "./write.js";

const SECTIONS = ["write", "read", "watermark", "detect", "inspect"];
const SHARED = { sharing: ["write", "read"], marking: ["watermark", "detect"] };

function show(moveFocus) {
  const asked = location.hash.slice(1);
  const name = SECTIONS.includes(asked) ? asked : SECTIONS[0];
  for (const each of SECTIONS) document.getElementById(each).hidden = each !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const [form, sections] of Object.entries(SHARED)) {
    document.getElementById(form).hidden = !sections.includes(name);
  }
  if (moveFocus) {
    document.getElementById(`${name}-title`).focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

addEventListener("hashchange", () => show(true));
show(false);
for (const prepare of [prepareWrite, prepareRead, prepareMark, prepareDetect, prepareInspect]) prepare();
try {
  await fillChoices();
  prepareSharing();
  prepareMarkSharing();
} catch (error) {
  say(document.getElementById("page-error"), error.message);
}
