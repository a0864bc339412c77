// Files that a person opens: they are read by the page and go nowhere else.

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
