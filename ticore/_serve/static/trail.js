// How a text came to be: a piece for what stays, and one for each token that was taken back.

// How long a step is to be seen, in milliseconds. The model is faster.
const SEEN = { pending: 350, mended: 350, dropped: 800, backtracked: 800 };
const [KEPT, HURRIED, MANY] = [30, 8, 60]; // what stays is hurried over where many steps wait

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Shows the steps of a text, one after the other, in `place`. The server says what steps there are. */
export class Trail {
  #place;
  #waiting = [];
  #plays = false;
  #played = null; // a promise
  #kept = [];
  #pending = [];

  constructor(place) {
    this.#place = place;
  }

  /** Begin another text. */
  begin() {
    [this.#waiting, this.#kept, this.#pending] = [[], [], []];
    this.#place.textContent = "";
  }

  /** Show these steps after those that wait already. */
  follow(steps) {
    this.#waiting.push(...steps);
    if (!this.#plays) this.#played = this.#play();
  }

  /** Wait until all steps have been shown. Throws an AbortError if the signal ends that. */
  async shown(signal) {
    const stopped = new Promise((end) => signal.addEventListener("abort", end, { once: true }));
    await Promise.race([this.#played, stopped]);
    if (signal.aborted) this.#waiting = [];
    signal.throwIfAborted();
  }

  async #play() {
    this.#plays = true;
    while (this.#waiting.length) {
      const step = this.#waiting.shift();
      this.#show(step);
      if (!still.matches) await pause(this.#seen(step[0]));
    }
    this.#plays = false;
  }

  #seen(kind) {
    return SEEN[kind] ?? (this.#waiting.length > MANY ? HURRIED : KEPT);
  }

  #show([kind, ...values]) {
    switch (kind) {
      case "kept":
        this.#kept.push(this.#add("span", "", values[0]));
        break;
      case "pending":
        this.#pending.push(this.#add("span", "pending", values[0]));
        break;
      case "mended":
        for (const each of this.#pending.splice(-values[0])) each.remove();
        this.#kept.push(this.#add("span", "mended", values[1]));
        break;
      case "dropped":
        for (const each of this.#pending.splice(-values[0])) takeBack(each);
        break;
      case "backtracked":
        takeBack(this.#kept.pop());
    }
  }

  #add(name, kind, text) {
    const piece = document.createElement(name);
    if (kind) piece.className = kind;
    piece.textContent = text;
    this.#place.append(piece);
    return piece;
  }
}

function takeBack(piece) {
  const gone = document.createElement("del");
  gone.textContent = piece.textContent;
  piece.replaceWith(gone);
}

function pause(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}
