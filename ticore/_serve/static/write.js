// Write: the text grows while the message is hidden in it.

import { copies } from "./clipboard.js";
import { shared } from "./sharing.js";
import { task } from "./task.js";

const byId = (id) => document.getElementById(id);
const SENTENCE = /[.!?…。！？]["'”’)\]」』]*\s/g;

/** Make the section work. */
export function prepareWrite() {
  const section = byId("write");
  const [written, spoken, facts] = [byId("written"), byId("spoken"), byId("written-facts")];
  const [title, copyText] = [byId("written-title"), byId("copy-text")];
  let said = 0; // how much of the text has been given to screen readers

  const grow = (text) => {
    section.querySelector(".result").hidden = false;
    const shown = written.textContent;
    if (text.startsWith(shown)) written.append(text.slice(shown.length));
    else [written.textContent, spoken.textContent, said] = [text, "", 0]; // it was begun again
    let end = said;
    for (const match of text.slice(said).matchAll(SENTENCE)) end = said + match.index + match[0].length;
    speak(text, end);
  };
  // Sentence by sentence: a screen reader that hears each token says nothing to the end.
  const speak = (text, end) => {
    if (end <= said) return;
    const sentence = document.createElement("p");
    sentence.textContent = text.slice(said, end);
    spoken.append(sentence);
    said = end;
  };

  task(section, "write", {
    fields: () => ({ ...shared(), message: byId("message").value }),
    begin: () => {
      written.textContent = spoken.textContent = facts.textContent = "";
      title.textContent = "The text, so far";
      said = 0;
      copyText.hidden = true;
    },
    // A character that is not finished shows as U+FFFD.
    progress: (state) => state.text && grow(state.text.replace(/\uFFFD+$/, "")),
    show: (found) => {
      title.textContent = "The text to send";
      grow(found.text);
      speak(found.text, found.text.length);
      facts.textContent =
        `Your message is in it: ${found.tokens} tokens carry ${found.bits} bits, encrypted. ` +
        `It took ${found.seconds.toFixed(1)} seconds.` + (found.advice && ` Take care: ${found.advice}.`);
      copyText.hidden = false;
    },
  });
  copies(copyText, () => written.textContent);
}
