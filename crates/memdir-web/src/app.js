// Adds to the pages what they also do without: results as one types, changes by others without reloading, and a button that copies.
"use strict";

// Fetches the page at an address again and puts the parts that are marked in the place of those that are shown, if it is still wanted.
async function refresh(address, selector, headers, { isWanted = () => true, isPage = false }) {
  const answer = await fetch(address, { headers, credentials: "same-origin" });
  if (answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!isWanted()) return;
  // What the page is of is gone: that is said in the place of all of it, until it is back.
  const isGone = isPage && (answer.status === 404 || answer.status === 410);
  if (!answer.ok && !isGone) return;
  for (const shown of document.querySelectorAll(isGone ? "#main" : selector)) {
    const next = shown.id && fresh.getElementById(shown.id);
    if (next && isGone) next.dataset.live = "notes state";
    // What the person is typing in stays.
    const isTyped = shown.contains(document.activeElement) && (!isGone || document.activeElement.matches("input, textarea"));
    if (!next || isTyped || shown.querySelector("[data-changed]")) continue;
    if (next.outerHTML !== shown.outerHTML) keepOpen(shown, next), shown.replaceWith(document.adoptNode(next));
  }
}

// What was opened or closed by hand stays so.
function keepOpen(shown, next) {
  for (const details of shown.querySelectorAll("details[id]")) {
    const same = next.querySelector(`#${CSS.escape(details.id)}`);
    if (same) same.open = details.open;
  }
}

// Live: while the page is looked at, it hears that something changed. A browser keeps few connections, so others let go.
let events = null;
const live = () => document.querySelector("[data-live]") !== null;

function listen() {
  if (document.hidden || !live()) {
    events?.close();
    events = null;
  } else if (!events) {
    events = new EventSource("/events");
    events.addEventListener("changed", (event) => renew(event.data.split(" ")));
  }
}

let renewing = null;
function renew(kinds) {
  clearTimeout(renewing);
  renewing = setTimeout(() => {
    const selector = kinds.map((kind) => `[data-live~="${kind}"]`).join(",");
    if (document.querySelector(selector)) refresh(location.href, selector, { "memdir-refresh": "1" }, { isPage: true }).catch(() => {});
  }, 100);
}

document.addEventListener("visibilitychange", () => {
  const was = events;
  listen();
  // Something may have changed while nobody looked.
  if (!was && events) renew(["notes", "state"]);
});
listen();

// Search as one types.
const search = document.querySelector("form[data-search]");
if (search) {
  let asks = false;
  let again = false;
  let pause = null;
  let newest = 0;
  const ask = (typing) => {
    // The answer after a pause may arrive behind that of a later key.
    const number = ++newest;
    const address = `${search.getAttribute("action")}?${new URLSearchParams(new FormData(search))}`;
    history.replaceState(null, "", address);
    return refresh(address, "#results", { "memdir-typing": typing }, { isWanted: () => number === newest }).catch(() => {});
  };
  // At once with the first key; what is typed while an answer is awaited is asked together. After a pause it is asked once more, as
  // what the person looks for: that is in the audit.
  search.addEventListener("input", async () => {
    again = true;
    clearTimeout(pause);
    if (asks) return;
    asks = true;
    while (again) {
      again = false;
      await ask("now");
    }
    asks = false;
    pause = setTimeout(ask, 1000, "paused");
  });
}

// Copying, and the question before something is lost. Both are clicks on what the page may have got since.
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]");
  if (!button) return;
  event.preventDefault();
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = "Copied";
});

// A text that was begun is not left by mistake.
for (const form of document.querySelectorAll("form[data-keep]")) {
  form.addEventListener("input", () => form.setAttribute("data-changed", ""));
  form.addEventListener("submit", () => form.removeAttribute("data-changed"));
}
addEventListener("beforeunload", (event) => {
  if (document.querySelector("[data-changed]")) event.preventDefault();
});

// Chat: the answer as it is written, with its questions in it. Without this the form waits for the whole answer.
const chat = document.querySelector("form[data-chat]");
if (chat) {
  const answer = document.getElementById("answer"), stop = document.getElementById("stop").form;
  stop.hidden = stop.parentElement.hasAttribute("data-idle");
  const text = document.createElement("p"), status = document.createElement("p");
  (text.className = "raw"), (status.className = "quiet");
  const told = {
    reply: (more) => ((status.textContent = ""), text.append(more)),
    status: (words) => (status.textContent = words),
    question: (html) => answer.append(part(html)),
    failed: (html) => answer.replaceChildren(part(html)),
    end: (address) => (address.split("#")[0] === location.pathname + location.search ? location.reload() : location.assign(address)),
  };
  const part = (html) => document.adoptNode(new DOMParser().parseFromString(html, "text/html").body.firstElementChild);
  chat.addEventListener("submit", async (event) => {
    event.preventDefault();
    const send = chat.querySelector("button"), message = chat.elements.message;
    send.disabled = true;
    stop.hidden = false;
    text.replaceChildren();
    answer.replaceChildren(status, text);
    status.textContent = "The model is asked …";
    let failed = true;
    try {
      const reply = await fetch("/chat", { method: "POST", headers: { "memdir-stream": "1" }, body: new URLSearchParams(new FormData(chat)) });
      if (!reply.ok) throw new Error("refused");
      const lines = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ; ) {
        const { done, value } = await lines.read();
        if (done) break;
        const parts = (rest + value).split("\n");
        rest = parts.pop();
        for (const line of parts) for (const [kind, what] of Object.entries(JSON.parse(line))) told[kind](what), (failed = kind !== "end");
      }
    } catch {
      status.textContent = "The answer did not arrive. What was done is done; load the page again.";
    }
    send.disabled = false;
    stop.hidden = true;
    if (!failed) message.value = "";
  });
  answer.addEventListener("submit", async (event) => {
    if (!event.target.matches("form[data-answer]")) return;
    event.preventDefault();
    const sent = await fetch("/chat/answer", { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
    const page = new DOMParser().parseFromString(await sent.text(), "text/html");
    const said = [...page.querySelectorAll("#main > p, #main .problem p")].map((line) => line.textContent).filter((line) => line !== "Back to the chat");
    const note = document.createElement("p");
    note.className = "quiet";
    note.textContent = [event.submitter?.textContent, ...said].join(" · ");
    event.target.closest(".question").replaceWith(note);
  });
  stop.addEventListener("submit", (event) => {
    if (!answer.firstChild) return;
    event.preventDefault();
    fetch("/chat/stop", { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
  });
}
