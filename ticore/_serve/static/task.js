// A form that asks for something: it shows that work goes on, lets it be stopped, and shows errors.

import { ask } from "./ask.js";
import { put } from "./markup.js";

/**
 * Make the form of a section do its work.
 *
 * @param {HTMLElement} section holds the form and the result.
 * @param {string} what the action of the server.
 * @param {object} parts `fields()` gives what to send and may throw; `begin()`, `progress(state)` and
 *   `show(result, signal)` change the page; while `show` takes time, the form can still be stopped:
 *   the signal says so.
 */
export function task(section, what, { fields, begin = () => {}, progress = () => {}, show }) {
  const form = section.querySelector("form");
  const [submit, stop] = [form.querySelector(".main"), form.querySelector(".stop")];
  const [status, error] = [form.querySelector(".status"), form.querySelector(".error")];
  const place = form.querySelector(".place"); // where a text is wrong
  const bar = form.querySelector("progress");
  const result = section.querySelector(".result");
  let controller = null;

  const working = (goesOn) => {
    submit.disabled = goesOn;
    if (!goesOn && document.activeElement === stop) submit.focus();
    stop.hidden = !goesOn;
    if (bar) {
      bar.hidden = !goesOn;
      bar.removeAttribute("value"); // unknown until the model is open
    }
  };
  stop.addEventListener("click", () => controller?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    controller = new AbortController();
    result.hidden = error.hidden = true;
    place?.replaceChildren();
    status.textContent = "Working …";
    working(true);
    try {
      const sent = fields();
      begin();
      const found = await ask(what, sent, {
        signal: controller.signal,
        progress: (state) => {
          if (bar && state.total) bar.value = Math.min(1, state.done / state.total);
          progress(state);
        },
      });
      result.hidden = false;
      await show(found, controller.signal);
      controller.signal.throwIfAborted();
      status.textContent = "";
    } catch (problem) {
      const stopped = problem.name === "AbortError";
      result.hidden = true; // half a text holds no message
      status.textContent = stopped ? "Stopped." : "";
      if (!stopped) say(error, problem.message);
      if (place) put(place, problem.place ?? "");
    } finally {
      working(false);
    }
  });
}

/** Do some work, and show an error in `place` if it fails. */
export async function trying(place, work) {
  place.hidden = true;
  try {
    await work();
  } catch (error) {
    say(place, error.message);
  }
}

/** Show an error. */
export function say(place, words) {
  place.textContent = words.charAt(0).toUpperCase() + words.slice(1);
  place.hidden = false;
}
