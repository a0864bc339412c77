// Fields of secrets: hidden unless they are shown, and stored nowhere.

import { ask } from "./ask.js";
import { copies } from "./clipboard.js";
import { trying } from "./task.js";

const byId = (id) => document.getElementById(id);

/** Let the button `show-ID` show and hide what is in the field ID. */
export function secretField(id) {
  const [field, button] = [byId(id), byId(`show-${id}`)];
  button.addEventListener("click", () => {
    const shows = field.type === "password";
    field.type = shows ? "text" : "password";
    button.setAttribute("aria-pressed", String(shows));
    button.textContent = shows ? "Hide" : "Show";
  });
}

/** The same for a key, which `copy-ID` copies and `make-ID` makes; then `made()` is called. */
export function keyField(id, error, made) {
  const field = byId(id);
  secretField(id);
  copies(byId(`copy-${id}`), () => field.value);
  byId(`make-${id}`).addEventListener("click", () =>
    trying(error, async () => {
      if (field.value && !confirm("There is a key already. Replace it? It is stored nowhere.")) return;
      field.value = (await ask("make-key")).key;
      made();
    }),
  );
}
