// What writer and detector of a watermark share: key, scheme and model, or the text of an agreement.

import { ask } from "./ask.js";
import { models } from "./choices.js";
import { opensFile, saveFile } from "./files.js";
import { keyField } from "./secrets.js";
import { trying } from "./task.js";

const byId = (id) => document.getElementById(id);
const [key, model, prompt] = [byId("mark-key"), byId("mark-model"), byId("mark-prompt")];
let agreement = ""; // the text of the file; empty: key, scheme and model count
let offered = ""; // the opening words that the page itself has put there

let scheme = ""; // that of the agreement

/** What to send to the server about both sides. */
export function sharedMark() {
  if (agreement) return { agreement };
  return { key: key.value, scheme: byId("scheme").value, model: model.value };
}

/** Make the form work. Call it when the choices are there. */
export function prepareMarkSharing() {
  const error = byId("marking-error");
  byId("marking").addEventListener("submit", (event) => event.preventDefault());
  model.addEventListener("change", showOpening);
  showOpening();
  byId("scheme").addEventListener("change", showPayload);
  showPayload();
  keyField("mark-key", error, () => {
    byId("mark-facts").textContent = "There is a new key. Save it as an agreement file.";
  });
  byId("save-mark").addEventListener("click", () => trying(error, saveMark));
  opensFile(byId("mark-file"), (text) => trying(error, () => openMark(text)));
  byId("forget-mark").addEventListener("click", () => {
    use("", "");
    byId("mark-file").focus();
  });
}

/** Whether the text carries a payload. */
export function hasPayload() {
  return (agreement ? scheme : byId("scheme").value) === "gumbel_payload";
}

function showPayload() {
  byId("payload-field").hidden = !hasPayload();
}

function showOpening() {
  const found = models.find((each) => each.place === model.value);
  if (found && prompt.value === offered) prompt.value = offered = found.opening;
}

async function saveMark() {
  if (!key.value.trim()) key.value = (await ask("make-key")).key;
  saveFile("watermark.json", (await ask("make-mark-agreement", sharedMark())).agreement);
  byId("mark-facts").textContent = "The agreement is saved among your downloads. It holds the key: keep it like one.";
}

async function openMark(text) {
  const found = await ask("open-mark-agreement", { agreement: text });
  key.value = "";
  model.value = found.model; // nothing in the list if it is not installed
  showOpening();
  scheme = found.scheme;
  use(text, `An agreement is open: scheme ${found.scheme}, model ${found.model}. It holds the key.`);
}

function use(text, facts) {
  agreement = text;
  byId("mark-facts").textContent = facts;
  byId("mark-settings").hidden = byId("mark-settings").disabled = text !== "";
  byId("save-mark").hidden = text !== "";
  byId("forget-mark").hidden = text === "";
  showPayload();
  if (!text && !model.value) model.value = models[0].place;
}
