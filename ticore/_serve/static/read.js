// Read: the message of a text, or why there is none.

import { shared } from "./sharing.js";
import { task } from "./task.js";

const byId = (id) => document.getElementById(id);

/** Make the section work. */
export function prepareRead() {
  task(byId("read"), "read", {
    fields: () => ({ ...shared(), text: byId("received").value }),
    show: (found) => {
      byId("message-read").textContent = found.message ?? `No text, but bytes: ${found.hex}`;
      byId("undone").textContent = found.undone.length
        ? `The text was changed on its way. This was undone: ${found.undone.join(", ")}.`
        : "";
    },
  });
}
