// The page: one chat at a time, chosen by the address after the hash sign.

const STARTERS = ["What can you do for me?", "Every weekday at 8, post a digest of the news", "/help"];
const ui = Object.fromEntries(["scroll", "log", "pending", "live", "welcome", "earlier", "latest", "connection", "stop", "notice", "spoken"].map((id) => [id, document.getElementById(id)]));

let chat = null;
let link_ = null;
let lastDay = "";
let questions = new Map();
let lastQuestion = null;
let drawing = 0;
let unread = 0;

const composer = new Composer({
  send(text, files) {
    chat.queue(text, files);
    showOutbox();
    toEnd();
    link_.flush();
  },
  problem(words) {
    ui.notice.textContent = words;
    ui.notice.hidden = !words;
  },
});

function open() {
  link_?.close();
  chat = new Chat(chatFromHash());
  clearLog();
  document.getElementById("chat-name").textContent = chat.name;
  showChats();
  showTitle();
  composer.show(chat.name);
  showOutbox();
  showLive();
  link_ = new Link(chat, { entries: takeEntries, progress: takeProgress, connected: showConnection, outbox: showOutbox });
  link_.start();
}

function clearLog() {
  ui.log.replaceChildren();
  ui.earlier.hidden = true;
  ui.welcome.hidden = true;
  lastDay = "";
  questions = new Map();
  lastQuestion = null;
  // History is to be read at will, not read out; what comes later is.
  ui.spoken.setAttribute("aria-live", "off");
}

function takeEntries(entries, { earlier }) {
  const stick = atEnd();
  for (const entry of entries) {
    if (!chat.take(entry)) continue;
    addEntry(entry);
    if (document.hidden && entry.role === "hart") unread++;
  }
  if (earlier !== null) {
    ui.earlier.hidden = !earlier;
    setTimeout(() => ui.spoken.setAttribute("aria-live", "polite"), 500);
  }
  showOutbox();
  showLive();
  showTitle();
  ui.welcome.hidden = chat.seen.size > 0 || chat.outbox.length > 0;
  if (stick || earlier !== null) toEnd();
}

function addEntry(entry) {
  const day = new Date(entry.at).toDateString();
  if (day !== lastDay) ui.log.append(dayNode(new Date(entry.at)));
  lastDay = day;
  let question = "";
  if (entry.role === "person") {
    questions.set(entry.message_id, entry.text);
    lastQuestion = entry.message_id;
  } else if (entry.in_reply_to && entry.in_reply_to !== lastQuestion) question = questions.get(entry.in_reply_to) ?? "";
  ui.log.append(entryNode(chat.base, entry, question));
}

function takeProgress(view) {
  if (!chat.progress(view) || drawing) return;
  // Drawn at most once a frame, whatever comes in between.
  drawing = requestAnimationFrame(() => {
    drawing = 0;
    const stick = atEnd();
    showLive();
    if (stick) toEnd();
  });
}

function showLive() {
  ui.live.replaceChildren(...(chat.busy ? [liveNode(chat.live)] : []));
  ui.stop.hidden = !chat.busy;
}

function showOutbox() {
  const act = {
    retry(message) {
      message.state = "waiting";
      message.problem = "";
      link_.flush();
    },
    edit(message) {
      chat.drop(message.id);
      composer.fill(message.text);
      composer.attach(message.files);
      showOutbox();
    },
  };
  ui.pending.replaceChildren(...chat.outbox.map((message) => pendingNode(message, act)));
  if (chat.outbox.length) ui.welcome.hidden = true;
}

function showConnection(connected) {
  const words = connected ? "" : "Reconnecting…";
  if (ui.connection.textContent !== words) ui.connection.textContent = words;
  ui.connection.classList.toggle("lost", !connected);
}

function showTitle() {
  if (!document.hidden) unread = 0;
  document.title = `${unread ? `(${unread}) ` : ""}${chat.name} – Hart`;
}

function showChats() {
  document.getElementById("chat-list").replaceChildren(...rememberChat(chat.name).map((name) => {
    const anchor = element("a", "", name);
    anchor.href = `#${name}`;
    if (name === chat.name) anchor.setAttribute("aria-current", "page");
    anchor.addEventListener("click", () => document.getElementById("chats").hidePopover());
    return element("li", "", anchor);
  }));
}

function atEnd() {
  return ui.scroll.scrollHeight - ui.scroll.scrollTop - ui.scroll.clientHeight < 80;
}

function toEnd() {
  ui.scroll.scrollTop = ui.scroll.scrollHeight;
}

async function showEarlier() {
  ui.earlier.disabled = true;
  try {
    link_.limit = Math.min(link_.limit + 150, 500);
    const page = await link_.history();
    const fromEnd = ui.scroll.scrollHeight - ui.scroll.scrollTop;
    clearLog();
    chat.seen.clear();
    takeEntries(page.entries, { earlier: null });
    ui.earlier.hidden = page.entries.length < link_.limit || link_.limit >= 500;
    ui.scroll.scrollTop = ui.scroll.scrollHeight - fromEnd;
  } catch {
    ui.notice.textContent = "Earlier messages could not be read.";
    ui.notice.hidden = false;
  }
  ui.earlier.disabled = false;
}

ui.scroll.addEventListener("scroll", () => { ui.latest.hidden = atEnd(); }, { passive: true });
ui.latest.addEventListener("click", toEnd);
ui.earlier.addEventListener("click", showEarlier);
ui.stop.addEventListener("click", () => {
  chat.queue("/stop", []);
  showOutbox();
  link_.flush();
});
document.getElementById("chat-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = document.getElementById("chat-new");
  location.hash = field.value;
  field.value = "";
  document.getElementById("chats").hidePopover();
});
document.getElementById("starters").append(...STARTERS.map((words) => element("li", "", button(words, "starter", () => {
  composer.fill(words);
  composer.text.focus();
}))));
document.addEventListener("visibilitychange", showTitle);
window.addEventListener("hashchange", open);
window.addEventListener("beforeunload", (event) => {
  if (chat.outbox.some((message) => message.files.length && message.state !== "sent")) event.preventDefault();
});
open();
composer.text.focus();
