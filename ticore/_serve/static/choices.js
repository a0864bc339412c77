// What can be chosen: models, channels and schemes, as the server has them.

import { ask } from "./ask.js";

export let models = [];

/** Fill the lists of the page. */
export async function fillChoices() {
  const found = await ask("choices");
  models = found.models;
  for (const id of ["model", "inspect-model", "mark-model"]) {
    fill(document.getElementById(id), models.map((each) => [each.place, each.place]));
  }
  fill(
    document.getElementById("scheme"),
    found.schemes.map((each) => [each.name, `${each.name}: ${each.about}`]),
  );
  document.getElementById("channels").append(...found.channels.map(channelBox));
}

function fill(select, options) {
  select.replaceChildren(...options.map(([value, label]) => new Option(label, value)));
}

function channelBox({ name, about }) {
  const label = document.createElement("label");
  label.className = "choice";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.value = name;
  const words = document.createElement("span");
  const strong = document.createElement("b");
  strong.textContent = name;
  words.append(strong, `: ${about}`);
  label.append(box, words);
  return label;
}
