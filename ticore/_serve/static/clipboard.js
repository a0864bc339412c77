// Copying: a button says for a moment that it has copied.

/** Let a button copy what `text()` gives. */
export function copies(button, text) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text())) ? "Copied" : "Could not copy: select it, and copy it by hand";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text); // missing where the page is not on this computer
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text) {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.className = "unseen";
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return copied;
}
