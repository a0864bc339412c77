// Requests to the server: one JSON object out, lines of JSON in.

const token = document.querySelector('meta[name="ticore-token"]').content;

/** An error whose text is meant for the person at the page; `place` may be HTML that shows where. */
export class Refused extends Error {
  constructor(message, place = "") {
    super(message);
    this.place = place;
  }
}

/**
 * Ask the server to do something.
 *
 * @param {string} what the name of the action.
 * @param {object} fields what it needs.
 * @param {{progress?: (state: object) => void, signal?: AbortSignal}} options progress sees what is
 *   done so far; the signal ends the request, and with it the work.
 * @returns {Promise<object>} the result. Throws Refused with words, or an AbortError.
 */
export async function ask(what, fields = {}, { progress = () => {}, signal } = {}) {
  let response;
  try {
    response = await fetch(`/do/${what}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Ticore-Token": token },
      body: JSON.stringify(fields),
      cache: "no-store",
      credentials: "omit",
      signal,
    });
  } catch (error) {
    throw unreachable(error);
  }
  if (!response.ok) {
    throw new Refused((await response.json().catch(() => ({}))).error ?? "the server refused");
  }
  try {
    for await (const event of lines(response.body)) {
      if ("result" in event) return event.result;
      if ("error" in event) throw new Refused(event.error, event.place);
      progress(event.progress);
    }
  } catch (error) {
    throw error instanceof Refused ? error : unreachable(error);
  }
  throw unreachable();
}

/** The JSON values of a body that has one per line. */
async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}

function unreachable(error) {
  if (error?.name === "AbortError") return error;
  return new Refused(
    "The page does not reach its program any more. Is `ticore serve` still running? " +
      "If you have started it again, open the address that it prints.",
  );
}
