// Entries, messages on their way, and the answer being written, as DOM nodes.

const SVG = "http://www.w3.org/2000/svg";
const PREVIEWED = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const clock = new Intl.DateTimeFormat([], { hour: "numeric", minute: "2-digit" });
const calendar = new Intl.DateTimeFormat([], { weekday: "long", day: "numeric", month: "long" });

function icon(name, className = "icon") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

function button(label, className, act) {
  const node = element("button", className, label);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

function bytes(size) {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${Math.round(size / 1000)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

function fileLink(base, file) {
  const anchor = element("a", "file");
  anchor.href = `${base}/files/${encodeURIComponent(file.id)}`;
  anchor.download = file.name;
  if (PREVIEWED.has(file.mime) && file.size < 20e6) {
    const image = element("img");
    image.src = anchor.href;
    image.alt = "";
    image.loading = "lazy";
    image.addEventListener("error", () => image.remove());
    anchor.append(image);
  }
  anchor.append(fileLine(file));
  return element("li", "", anchor);
}

// What a person sent is shown by name only: the chat hands out what Hart made.
function sentFile(file) {
  return element("li", "", element("span", "file", fileLine(file)));
}

function fileLine(file) {
  return element("span", "file-line", icon("file"), element("span", "file-name", file.name), element("span", "file-size", bytes(file.size)));
}

function entryNode(base, entry, question) {
  const node = element("li", `entry ${entry.role}`);
  node.dataset.message = entry.message_id;
  const who = element("span", "visually-hidden", entry.role === "hart" ? "Hart" : "You");
  const at = new Date(entry.at);
  const time = element("time", "", clock.format(at));
  time.dateTime = entry.at;
  time.title = at.toLocaleString();
  const body = element("div", "body");
  if (question) body.append(element("p", "question", question));
  if (entry.text) body.append(entry.role === "hart" ? markdown(entry.text) : element("p", "said", entry.text));
  if (entry.files.length) body.append(element("ul", "files", ...entry.files.map((file) => (entry.role === "hart" ? fileLink(base, file) : sentFile(file)))));
  body.append(time);
  if (entry.role === "hart") node.append(icon("mark", "mark"));
  node.append(who, body);
  return node;
}

function dayNode(day) {
  const now = new Date();
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  const words = day.toDateString() === now.toDateString() ? "Today" : day.toDateString() === yesterday.toDateString() ? "Yesterday" : calendar.format(day);
  return element("li", "day", element("span", "", words));
}

function pendingNode(message, act) {
  const body = element("div", "body");
  if (message.text) body.append(element("p", "said", message.text));
  if (message.files.length) body.append(element("ul", "files", ...message.files.map(sentFile)));
  if (message.state === "refused") {
    body.append(element("p", "problem", `Not sent. ${message.problem} `, button("Try again", "plain", () => act.retry(message)), button("Edit", "plain", () => act.edit(message))));
  } else if (message.state === "waiting") {
    body.append(element("p", "fate", message.problem ? `${message.problem.replace(/\.$/, "")}…` : "Sending…"));
  }
  const node = element("li", `entry person ${message.state}`, element("span", "visually-hidden", "You"), body);
  node.dataset.message = message.id;
  return node;
}

const PHASES = { thinking: "Thinking", working: "Working", answering: "Writing", done: "Finishing" };

function liveNode(view) {
  const body = element("div", "body");
  if (view?.tools.length) {
    body.append(element("ul", "tools", ...view.tools.map((tool) => {
      const mark = tool.done ? icon(tool.ok ? "check" : "cross") : element("span", "spinner");
      const state = element("span", "visually-hidden", tool.done ? (tool.ok ? "done" : "failed") : "running");
      return element("li", tool.done ? (tool.ok ? "ok" : "failed") : "running", mark, element("span", "", tool.label), state);
    })));
  }
  if (view?.text) body.append(markdown(view.text));
  if (!view?.text || view.phase !== "answering") {
    const dots = element("span", "dots", element("i"), element("i"), element("i"));
    dots.setAttribute("aria-hidden", "true");
    body.append(element("p", "phase", PHASES[view?.phase ?? "thinking"] ?? "Working", dots));
  }
  return element("div", "entry hart live", icon("mark", "mark"), body);
}
