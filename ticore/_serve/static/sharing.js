// What both sides share: a secret and settings, or the text of an agreement file that holds them.

import { ask } from "./ask.js";
import { models } from "./choices.js";
import { opensFile, saveFile } from "./files.js";
import { keyField, secretField } from "./secrets.js";
import { trying } from "./task.js";

const byId = (id) => document.getElementById(id);
const key = byId("key");
const [model, prompt] = [byId("model"), byId("prompt")];
let agreement = ""; // the text of the file; empty: key and settings count
let offered = ""; // the opening words that the page itself has put there

/** What to send to the server about both sides. */
export function shared() {
  if (agreement) {
    return { agreement, ...secret(), model: model.value };
  }
  return {
    ...secret(),
    model: model.value,
    prompt: prompt.value,
    channel: channels().map((box) => box.value).join("+") || "identity",
    security: document.querySelector('input[name="security"]:checked').value,
  };
}

function hasPassword() {
  return document.querySelector('input[name="secret"]:checked').value === "password";
}

function secret() {
  return hasPassword() ? { password: byId("password").value } : { key: key.value };
}

/** Make the form work. Call it when the choices are there. */
export function prepareSharing() {
  byId("sharing").addEventListener("submit", (event) => event.preventDefault());
  model.addEventListener("change", showModel);
  showModel();
  const error = byId("sharing-error");
  keyField("key", error, () => {
    byId("agreement-facts").textContent = "There is a new key. Save it as an agreement file.";
  });
  secretField("password");
  byId("secret").addEventListener("change", () => showSecret(true));
  showSecret(true); // a browser that comes back restores what was chosen
  byId("save-agreement").addEventListener("click", () => trying(error, saveAgreement));
  opensFile(byId("agreement-file"), (text) => trying(error, () => openAgreement(text)));
  byId("forget-agreement").addEventListener("click", forgetAgreement);
}

function channels() {
  return [...document.querySelectorAll("#channels input:checked")];
}

function showModel() {
  const found = models.find((each) => each.place === model.value);
  if (!found) {
    byId("model-about").textContent = "This model is not installed on this computer.";
    byId("model-licence").textContent = "";
    return;
  }
  byId("model-about").textContent = found.about;
  byId("model-licence").textContent = found.restricted
    ? `The licence of ${found.place} restricts what you may do with its texts. Read it first: ${found.licence}`
    : `Licence: ${found.licence}`;
  if (prompt.value === offered) prompt.value = offered = found.opening;
}

async function saveAgreement() {
  if (!hasPassword() && !key.value.trim()) key.value = (await ask("make-key")).key;
  const { agreement: text } = await ask("make-agreement", shared());
  saveFile("agreement.json", text);
  byId("agreement-facts").textContent =
    "The agreement is saved among your downloads. " +
    (hasPassword() ? "It does not hold the password." : "It holds the key: keep it like one.");
}

async function openAgreement(text) {
  const found = await ask("open-agreement", { agreement: text });
  agreement = text;
  if (found.model) model.value = found.model; // nothing in the list if it is not installed
  showModel();
  key.value = byId("password").value = "";
  const seen = found.window ? `the model sees the last ${found.window} tokens, ` : "";
  byId("agreement-facts").textContent =
    `An agreement is open: model ${found.model ?? "of your choice"}, ${beginning(found)}, ` +
    `${seen}${travel(found)}, security ${found.security}. ` +
    (found.has_key ? "It holds the key." : "It holds no key: give the key or the password below.");
  showFields({ secretAsked: !found.has_key, modelAsked: !found.model, closed: false });
}

function beginning({ conversation, openers, prompt }) {
  if (conversation) return "a conversation comes before its texts";
  if (openers) return `each text begins with a natural opening from the list ${openers}`;
  return prompt ? `its texts begin with “${prompt}”` : "its texts have no opening words";
}

function travel({ channel, edits }) {
  const allowed = channel === "identity" ? [] : [`channel ${channel}`];
  if (edits) allowed.push(`${+(100 * edits).toPrecision(3)} % of their tokens may be edited`);
  return allowed.join(", ") || "they have to arrive as they are";
}

/** Which fields there are: an agreement has settings, and mostly a key and a model, of its own. */
function showFields({ secretAsked, modelAsked, closed }) {
  showSecret(secretAsked);
  byId("model").disabled = !modelAsked; // seen all the same, with its licence
  for (const each of document.querySelectorAll(".own-setting")) each.hidden = !closed;
  byId("save-agreement").hidden = !closed;
  byId("forget-agreement").hidden = closed;
}

function showSecret(asked) {
  byId("secret").hidden = !asked;
  byId("key-field").hidden = !asked || hasPassword();
  byId("password-field").hidden = !asked || !hasPassword();
}

function forgetAgreement() {
  agreement = "";
  byId("agreement-facts").textContent = "";
  showFields({ secretAsked: true, modelAsked: true, closed: true });
  if (!model.value) model.value = models[0].place;
  showModel();
  byId("agreement-file").focus();
}
