// The connection to the server: reads what was said, follows it, and sends messages until they arrive.

const RETRY_FIRST_MS = 1000;
const RETRY_MOST_MS = 15000;
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

class Link {
  // on: { entries(list, { earlier }), progress(view), connected(bool), outbox() }
  constructor(chat, on) {
    this.chat = chat;
    this.on = on;
    this.limit = 50;
    this.delay = RETRY_FIRST_MS;
    this.closed = false;
    this.sending = false;
  }

  async start() {
    let page;
    try {
      page = await this.history();
    } catch {
      this.lost(() => this.start());
      return;
    }
    if (this.closed) return;
    this.chat.cursor = page.cursor;
    this.on.entries(page.entries, { earlier: page.entries.length >= this.limit });
    this.follow();
  }

  async history() {
    const response = await fetch(`${this.chat.base}/messages?limit=${this.limit}`);
    if (response.status === 401) location.assign(`/login${location.hash}`);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  }

  follow() {
    if (this.closed) return;
    const source = new EventSource(`${this.chat.base}/events?after=${encodeURIComponent(this.chat.cursor)}`);
    this.source = source;
    source.addEventListener("open", () => {
      this.delay = RETRY_FIRST_MS;
      this.on.connected(true);
      this.flush();
    });
    source.addEventListener("entry", (event) => {
      if (event.lastEventId) this.chat.cursor = event.lastEventId;
      this.on.entries([JSON.parse(event.data)], { earlier: null });
    });
    source.addEventListener("progress", (event) => this.on.progress(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      // The browser would give up on some answers of a proxy, and show stale progress meanwhile.
      source.close();
      if (this.source === source) this.lost(() => this.check());
    });
  }

  async check() {
    try {
      const response = await fetch(`${this.chat.base}/messages?limit=1`);
      if (response.status === 401) location.assign(`/login${location.hash}`);
      if (!response.ok) throw new Error(`status ${response.status}`);
      this.follow();
    } catch {
      this.lost(() => this.check());
    }
  }

  lost(again) {
    if (this.closed) return;
    this.on.connected(false);
    clearTimeout(this.timer);
    this.timer = setTimeout(again, this.delay);
    this.delay = Math.min(this.delay * 1.6, RETRY_MOST_MS);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    clearTimeout(this.resend);
    this.source?.close();
  }

  // One at a time and in order. The message keeps its id, so sending it twice is harmless.
  async flush() {
    if (this.sending || this.closed) return;
    this.sending = true;
    clearTimeout(this.resend);
    try {
      for (;;) {
        const message = this.chat.outbox.find(({ state }) => state === "waiting");
        if (!message || !(await this.post(message))) return;
      }
    } finally {
      this.sending = false;
      this.on.outbox();
    }
  }

  // True when the next message may go.
  async post(message) {
    this.on.outbox();
    let response;
    try {
      response = await fetch(`${this.chat.base}/messages`, { method: "POST", ...body(message) });
    } catch {
      return this.later(message, "Waiting for the connection");
    }
    if (response.ok) {
      message.state = "sent";
      this.chat.saveOutbox();
      return true;
    }
    if (response.status === 401) location.assign(`/login${location.hash}`);
    const answer = await response.json().catch(() => ({}));
    const words = typeof answer.detail === "string" ? answer.detail : `The server refused it (${response.status}).`;
    if (PASSING.has(response.status)) return this.later(message, words);
    message.state = "refused";
    message.problem = words;
    this.chat.saveOutbox();
    return true;
  }

  later(message, words) {
    message.problem = words;
    this.resend = setTimeout(() => this.flush(), 3000);
    return false;
  }
}

function body({ id, text, files }) {
  const headers = { "X-Hart": "1" };
  if (!files.length) {
    return { headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify({ text, message_id: id }) };
  }
  const form = new FormData();
  form.append("text", text);
  form.append("message_id", id);
  for (const file of files) form.append("file", file, file.name);
  return { headers, body: form };
}
