// Reports that the server has written as HTML.

/** Show markup of the server. It is escaped there, and the policy of the page runs no script in it. */
export function put(place, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  place.replaceChildren(...document.adoptNode(parsed.body).childNodes);
}
