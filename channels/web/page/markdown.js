// Markdown to DOM nodes. Text only ever becomes text nodes, and an address only ever becomes an
// href after its scheme was checked, so hostile input has nothing to grab. Runs on every piece of
// a streaming answer: unfinished input is fine, and the time taken grows with its length only.

const DEPTH_LIMIT = 12;
const CLOSER_TRIES = 20;
const LINK_LABEL_LIMIT = 1000;

function element(name, className, ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

function safeAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

function link(address, fill) {
  const href = safeAddress(address);
  if (!href) return null;
  const node = element("a");
  node.href = href;
  node.target = "_blank";
  node.rel = "noopener noreferrer";
  fill(node);
  return node;
}

class Inline {
  constructor(text, depth, inLink = false) {
    this.text = text;
    this.depth = depth;
    this.inLink = inLink;
    this.nextTarget = -1;
    this.at = 0;
    this.plain = "";
    // Delimiters that have no closer further on: looking again would make the time quadratic.
    this.dead = new Set();
  }

  into(parent) {
    this.parent = parent;
    while (this.at < this.text.length) {
      if (!this.special(this.text[this.at])) this.plain += this.text[this.at++];
    }
    this.flush();
  }

  flush() {
    if (this.plain) this.parent.append(this.plain);
    this.plain = "";
  }

  add(node, next) {
    this.flush();
    this.parent.append(node);
    this.at = next;
    return true;
  }

  special(sign) {
    switch (sign) {
      case "\\": return this.escaped();
      case "\n": return this.add(element("br"), this.at + 1);
      case "`": return this.code();
      case "*": return this.pair("**", "strong") || this.pair("*", "em");
      case "_": return this.pair("__", "strong") || this.pair("_", "em");
      case "~": return this.pair("~~", "del");
      case "!": return this.text[this.at + 1] === "[" && this.bracket(this.at + 1);
      case "[": return this.bracket(this.at);
      case "<": return this.angle();
      case "h": return this.bare();
      default: return false;
    }
  }

  escaped() {
    const next = this.text[this.at + 1];
    if (!next || !/[!-/:-@[-`{-~]/.test(next)) return false;
    this.plain += next;
    this.at += 2;
    return true;
  }

  code() {
    let end = this.at;
    while (this.text[end] === "`") end++;
    const ticks = this.text.slice(this.at, end);
    if (!this.dead.has(ticks)) {
      for (let from = end; ;) {
        const close = this.text.indexOf(ticks, from);
        if (close < 0) break;
        let after = close + ticks.length;
        if (this.text[after] !== "`") {
          return this.add(element("code", "", this.text.slice(end, close).trim()), after);
        }
        while (this.text[after] === "`") after++;
        from = after;
      }
      this.dead.add(ticks);
    }
    this.plain += ticks;
    this.at = end;
    return true;
  }

  pair(mark, name) {
    const { text, at } = this;
    const start = at + mark.length;
    if (this.dead.has(mark) || this.depth > DEPTH_LIMIT || !text.startsWith(mark, at)) return false;
    if (!text[start] || /\s/.test(text[start])) return false;
    if (mark[0] === "_" && at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1])) return false;
    let close = start;
    for (let tries = 0; tries < CLOSER_TRIES; tries++) {
      close = text.indexOf(mark, close + 1);
      if (close < 0) {
        this.dead.add(mark);
        return false;
      }
      // The outer pair ends with the run of signs: in ***a*** the inner one keeps its own.
      if (mark.length === 2) while (text[close + 2] === mark[0]) close++;
      const after = text[close + mark.length] ?? "";
      const inWord = mark[0] === "_" && /[\p{L}\p{N}]/u.test(after);
      const inRun = mark.length === 1 && (after === mark || text[close - 1] === mark);
      if (!/\s/.test(text[close - 1]) && !inWord && !inRun) {
        const node = element(name);
        new Inline(text.slice(start, close), this.depth + 1, this.inLink).into(node);
        return this.add(node, close + mark.length);
      }
      if (inRun) while (text[close + 1] === mark) close++;
    }
    return false;
  }

  bracket(open) {
    const { text } = this;
    if (this.inLink || this.depth > DEPTH_LIMIT || this.dead.has("](")) return false;
    if (this.nextTarget < open) this.nextTarget = text.indexOf("](", open);
    if (this.nextTarget < 0) {
      this.dead.add("](");
      return false;
    }
    let depth = 0;
    const limit = Math.min(text.length, open + LINK_LABEL_LIMIT);
    for (let close = open; close < limit; close++) {
      if (text[close] === "\\") close++;
      else if (text[close] === "[") depth++;
      else if (text[close] === "]" && --depth === 0) return this.target(open + 1, close);
    }
    return false;
  }

  target(start, close) {
    if (this.text[close + 1] !== "(") return false;
    const inside = this.text.slice(close + 2, close + 2 + 4 * LINK_LABEL_LIMIT);
    const match = /^\s*<?((?:[^\s()<>]|\([^\s()]*\))*)>?(?:\s+["'][^"'\n]*["'])?\s*\)/.exec(inside);
    if (!match) return false;
    const label = this.text.slice(start, close);
    const node = link(match[1], (anchor) => {
      if (label) new Inline(label, this.depth + 1, true).into(anchor);
      else anchor.append(match[1]);
    });
    // A refused address leaves what was written, so that nothing is hidden.
    return node ? this.add(node, close + 2 + match[0].length) : false;
  }

  angle() {
    const match = /^<(https?:\/\/[^\s<>]{1,2000})>/.exec(this.text.slice(this.at, this.at + 2010));
    const node = match && !this.inLink && link(match[1], (anchor) => anchor.append(match[1]));
    if (node) return this.add(node, this.at + match[0].length);
    const rule = /^<br\s?\/?>/i.exec(this.text.slice(this.at, this.at + 6));
    return rule ? this.add(element("br"), this.at + rule[0].length) : false;
  }

  bare() {
    if (this.inLink || !/^https?:/.test(this.text.slice(this.at, this.at + 6))) return false;
    if (this.at > 0 && /[\p{L}\p{N}]/u.test(this.text[this.at - 1])) return false;
    const match = /^https?:\/\/[^\s<>"`*\u3000-\u303f\uff00-\uffef]{1,2000}/.exec(this.text.slice(this.at, this.at + 2010));
    if (!match) return false;
    let address = match[0].replace(/[.,;:!?'\])}]+$/, "");
    if (address.includes("(") && match[0][address.length] === ")") address += ")";
    const node = link(address, (anchor) => anchor.append(address));
    return node ? this.add(node, this.at + address.length) : false;
  }
}

const FENCE = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`\s]*)/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?$/;
const QUOTE = /^ {0,3}> ?/;
const DIVIDER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

function startsBlock(line) {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
}

function startsTable(lines, at) {
  const next = lines[at + 1];
  return lines[at].includes("|") && next !== undefined && next.includes("-") && next.includes("|") && DIVIDER.test(next);
}

function renderBlocks(lines, parent, depth) {
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) at++;
    else if (FENCE.test(line)) at = renderFence(lines, at, parent);
    else if (HEADING.test(line)) {
      const [, signs, title] = HEADING.exec(line);
      const heading = element(`h${Math.min(6, signs.length + 2)}`);
      new Inline(title.replace(/\s+#+\s*$/, ""), 0).into(heading);
      parent.append(heading);
      at++;
    } else if (RULE.test(line)) {
      parent.append(element("hr"));
      at++;
    } else if (depth < DEPTH_LIMIT && QUOTE.test(line)) {
      const inner = [];
      while (at < lines.length && QUOTE.test(lines[at])) inner.push(lines[at++].replace(QUOTE, ""));
      const quote = element("blockquote");
      renderBlocks(inner, quote, depth + 1);
      parent.append(quote);
    } else if (depth < DEPTH_LIMIT && ITEM.test(line)) at = renderList(lines, at, parent, depth);
    else if (startsTable(lines, at)) at = renderTable(lines, at, parent);
    else at = renderParagraph(lines, at, parent);
  }
}

function renderFence(lines, at, parent) {
  const [, indent, marks, language] = FENCE.exec(lines[at++]);
  const body = [];
  for (; at < lines.length; at++) {
    const line = lines[at].trim();
    if (line.startsWith(marks) && line === marks[0].repeat(line.length)) {
      at++;
      break;
    }
    body.push(lines[at].startsWith(indent) ? lines[at].slice(indent.length) : lines[at]);
  }
  const code = body.join("\n");
  const copy = element("button", "copy", "Copy");
  copy.type = "button";
  copy.addEventListener("click", () => copyText(copy, code));
  const pre = element("pre", "", element("code", "", code));
  pre.tabIndex = 0;
  parent.append(element("div", "code", element("div", "code-head", element("span", "", language.slice(0, 30)), copy), pre));
  return at;
}

async function copyText(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy failed";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function renderList(lines, at, parent, depth) {
  const first = ITEM.exec(lines[at]);
  const ordered = /\d/.test(first[2]);
  const list = element(ordered ? "ol" : "ul");
  if (ordered && first[2] !== "1.") list.start = Number.parseInt(first[2], 10);
  const outer = first[1].length;
  while (at < lines.length) {
    const match = ITEM.exec(lines[at]);
    if (!match || RULE.test(lines[at]) || /\d/.test(match[2]) !== ordered || match[1].length < outer) break;
    const indent = match[1].length + match[2].length;
    const inner = [match[3] ?? ""];
    for (at++; at < lines.length; at++) {
      const line = lines[at];
      const lead = line.length - line.trimStart().length;
      const next = lines[at + 1] ?? "";
      if (!line.trim()) {
        if (!/^[ \t]/.test(next) && !ITEM.test(next)) break;
        inner.push("");
      } else if (lead > match[1].length && (lead >= indent || ITEM.test(line))) {
        inner.push(line.slice(Math.min(lead, indent + 1)));
      } else if (startsBlock(line) || !lines[at - 1].trim()) break;
      else inner.push(line.trimStart());
    }
    list.append(renderItem(inner, depth));
    if (at < lines.length && !lines[at].trim()) break;
  }
  parent.append(list);
  return at;
}

function renderItem(lines, depth) {
  const item = element("li");
  const box = /^\[([ xX])\] /.exec(lines[0]);
  if (box) {
    item.className = "task";
    lines[0] = `${box[1] === " " ? "☐" : "☑"} ${lines[0].slice(4)}`;
  }
  renderBlocks(lines, item, depth + 1);
  return item;
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function renderTable(lines, at, parent) {
  const columns = cells(lines[at]);
  const sides = cells(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "middle" : "end") : ""));
  const row = (name, values) => element("tr", "", ...columns.map((_, index) => {
    const cell = element(name, sides[index] ?? "");
    new Inline(values[index] ?? "", 0).into(cell);
    return cell;
  }));
  const head = element("thead", "", row("th", columns));
  const body = element("tbody");
  for (at += 2; at < lines.length && lines[at].includes("|") && lines[at].trim(); at++) body.append(row("td", cells(lines[at])));
  const wrap = element("div", "table", element("table", "", head, body));
  wrap.tabIndex = 0;
  parent.append(wrap);
  return at;
}

function renderParagraph(lines, at, parent) {
  const text = [lines[at++].trimStart()];
  while (at < lines.length && lines[at].trim() && !startsBlock(lines[at]) && !startsTable(lines, at)) text.push(lines[at++].trimStart());
  const paragraph = element("p");
  new Inline(text.join("\n").trimEnd(), 0).into(paragraph);
  parent.append(paragraph);
  return at;
}

function markdown(text) {
  const root = element("div", "markdown");
  renderBlocks(text.replace(/\r\n?/g, "\n").split("\n"), root, 0);
  return root;
}
