// Files that a person opens or saves: they are read and written by the page and go nowhere else.

const MOST_BYTES = 1 << 20;

/** Give the text of each file that is chosen to `use`. */
export function opensFile(input, use) {
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (!file) return;
    use(file.size <= MOST_BYTES ? await file.text() : ""); // what is larger is no agreement
    input.value = ""; // the same file can be chosen again
  });
}

/** Save a text among the person's downloads. */
export function saveFile(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
