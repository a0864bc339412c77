// Watermark: a text grows token by token, and what is taken back is seen.

import { copies } from "./clipboard.js";
import { showVerdict } from "./detect.js";
import { hasPayload, sharedMark } from "./mark-sharing.js";
import { task } from "./task.js";
import { Trail } from "./trail.js";

const byId = (id) => document.getElementById(id);

/** Make the section work. */
export function prepareMark() {
  const section = byId("watermark");
  const [place, facts, done] = [byId("marked"), byId("marked-facts"), byId("marked-done")];
  const trail = new Trail(place);
  let text = "";

  task(section, "mark", {
    fields: () => ({
      ...sharedMark(),
      prompt: byId("mark-prompt").value,
      length: byId("mark-length").value,
      words: byId("mark-words").value,
      payload: hasPayload() ? byId("mark-payload").value.trim() : "",
    }),
    begin: () => {
      trail.begin();
      facts.textContent = "";
      done.hidden = true;
    },
    progress: (state) => {
      section.querySelector(".result").hidden = false;
      trail.follow(state.steps ?? []);
    },
    show: async (found, signal) => {
      await trail.shown(signal);
      text = found.text;
      facts.textContent = counts(found);
      done.hidden = false;
      showVerdict(section, found);
    },
  });
  copies(byId("copy-marked"), () => text);
  const showTrail = () => place.classList.toggle("plain", !byId("show-trail").checked);
  byId("show-trail").addEventListener("change", showTrail);
  showTrail(); // a browser that comes back restores what was chosen
}

function counts({ tokens, temporary, rollbacks, backtracks, seconds }) {
  const back = backtracks ? `, ${backtracks} more because nothing could follow` : "";
  return (
    `${tokens} tokens in ${seconds.toFixed(1)} seconds. Temporary inconsistencies, which later tokens mended: ` +
    `${temporary}. Rolled back: ${rollbacks}${back}.`
  );
}
