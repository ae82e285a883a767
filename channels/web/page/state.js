// What the page remembers, and what follows from it. Nothing here touches the document.

const COMMANDS = [
  ["/help", "what Hart can do"],
  ["/new", "start over in this chat"],
  ["/status", "what is going on"],
  ["/models", "choose a model"],
  ["/stop", "stop the current answer"],
  ["/whoami", "how Hart sees you"],
];

const CHAT_NAME = /^[A-Za-z0-9._-]{1,64}$/;
const RECENT_CHATS = 12;
const MAX_FILES = 10;
const MAX_FILE_BYTES = 50 * 1024 * 1024;

function chatFromHash() {
  try {
    const name = decodeURIComponent(location.hash.slice(1));
    return CHAT_NAME.test(name) ? name : "main";
  } catch {
    return "main";
  }
}

function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Outside a secure context only random bytes are to be had.
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Storage may be full or switched off; the page works without it, and only forgets.
const stored = {
  get(key, fallback) {
    try {
      return JSON.parse(localStorage.getItem(`hart:${key}`)) ?? fallback;
    } catch {
      return fallback;
    }
  },
  set(key, value) {
    try {
      if (value === null) localStorage.removeItem(`hart:${key}`);
      else localStorage.setItem(`hart:${key}`, JSON.stringify(value));
    } catch (error) {
      console.info("Drafts and unsent messages are not kept:", error.name);
    }
  },
};

function rememberChat(name) {
  const chats = ["main", ...stored.get("chats", []).filter((other) => other !== name && other !== "main")];
  if (name !== "main") chats.splice(1, 0, name);
  stored.set("chats", chats.slice(0, RECENT_CHATS));
  return chats.slice(0, RECENT_CHATS);
}

// One chat: entries from the server, messages on their way there, and the answer being written.
class Chat {
  constructor(name) {
    this.name = name;
    this.base = `/api/chats/web/${name}`;
    this.seen = new Set();
    this.cursor = null;
    this.live = null;
    this.open = new Map(); // person's message id -> text, while no answer has ended
    this.answered = new Set();
    this.outbox = stored.get(`outbox:${name}`, []).map((message) => ({ ...message, files: [], state: "waiting" }));
  }

  queue(text, files) {
    const message = { id: newId(), text, files, state: "waiting", problem: "" };
    this.outbox.push(message);
    this.saveOutbox();
    return message;
  }

  drop(id) {
    this.outbox = this.outbox.filter((message) => message.id !== id);
    this.saveOutbox();
  }

  saveOutbox() {
    // Files cannot be kept, and a message without its file is not the same message.
    const keep = this.outbox.filter((message) => !message.files.length && message.state !== "sent").map(({ id, text }) => ({ id, text }));
    stored.set(`outbox:${this.name}`, keep.length ? keep : null);
  }

  // True when the entry is new.
  take(entry) {
    if (this.seen.has(entry.id)) return false;
    this.seen.add(entry.id);
    if (entry.role === "person") {
      if (!this.answered.has(entry.message_id)) this.open.set(entry.message_id, entry.text);
      this.drop(entry.message_id);
    } else if (entry.final) this.close(entry.in_reply_to);
    return true;
  }

  close(id) {
    if (this.live && this.live.in_reply_to === id) this.live = null;
    if (id === null) return;
    const text = this.open.get(id) ?? "";
    this.answered.add(id);
    if (text.startsWith("/") && !/^\/(stop|new)\b/.test(text)) {
      this.open.delete(id);
      return;
    }
    // Messages are answered in order, so an answer closes all before it too.
    for (const earlier of [...this.open.keys()]) {
      this.open.delete(earlier);
      if (this.live && this.live.in_reply_to === earlier) this.live = null;
      if (earlier === id) break;
    }
  }

  progress(view) {
    if (view.in_reply_to !== null && this.answered.has(view.in_reply_to)) return false;
    if (view.phase === "done" && !this.live) return false;
    this.live = view;
    return true;
  }

  get busy() {
    return this.live !== null || [...this.open.values()].some((text) => !text.startsWith("/"));
  }
}
