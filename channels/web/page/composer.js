// The input: text that grows, drafts, files by button, drop and paste, and command hints.

class Composer {
  // on: { send(text, files), problem(words) }
  constructor(on) {
    this.on = on;
    this.text = document.getElementById("text");
    this.hints = document.getElementById("hints");
    this.attached = document.getElementById("attached");
    this.sendButton = document.getElementById("send");
    this.drafts = new Map(); // chat name -> files; text drafts are stored
    this.files = [];
    this.chosen = 0;
    this.matches = [];
    this.listen();
  }

  listen() {
    const form = document.getElementById("composer");
    const picker = document.getElementById("files");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.text.addEventListener("input", () => this.changed());
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("blur", () => this.showHints([]));
    this.text.addEventListener("paste", (event) => {
      if (event.clipboardData?.files.length) {
        event.preventDefault();
        this.attach(event.clipboardData.files);
      }
    });
    document.getElementById("attach").addEventListener("click", () => picker.click());
    picker.addEventListener("change", () => {
      this.attach(picker.files);
      picker.value = "";
    });
    this.listenForDrops(document.getElementById("drop"));
  }

  listenForDrops(shade) {
    const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
    document.addEventListener("dragover", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      shade.hidden = false;
    });
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) shade.hidden = true;
    });
    document.addEventListener("drop", (event) => {
      shade.hidden = true;
      if (!carriesFiles(event)) return;
      event.preventDefault();
      this.attach(event.dataTransfer.files);
    });
  }

  show(chat) {
    if (this.chat) this.drafts.set(this.chat, this.files);
    this.chat = chat;
    this.files = this.drafts.get(chat) ?? [];
    this.fill(stored.get(`draft:${chat}`, ""));
    this.showFiles();
  }

  fill(text) {
    this.text.value = text;
    this.changed();
  }

  changed() {
    stored.set(`draft:${this.chat}`, this.text.value || null);
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight}px`;
    this.sendButton.disabled = !this.text.value.trim() && !this.files.length;
    const typed = this.text.value;
    const asking = document.activeElement === this.text && /^\/\w*$/.test(typed);
    this.showHints(asking ? COMMANDS.filter(([name]) => name.startsWith(typed.toLowerCase())) : []);
  }

  showHints(matches) {
    this.matches = matches;
    this.chosen = 0;
    this.hints.replaceChildren(...matches.map(([name, words], index) => {
      const option = element("li", "", element("b", "", name), element("span", "", words));
      option.id = `hint-${index}`;
      option.setAttribute("role", "option");
      // Pressing must not take the focus away from the text.
      option.addEventListener("mousedown", (event) => event.preventDefault());
      option.addEventListener("click", () => this.choose(index));
      return option;
    }));
    this.hints.hidden = !matches.length;
    this.text.setAttribute("aria-expanded", String(matches.length > 0));
    this.mark();
  }

  mark() {
    [...this.hints.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === this.chosen)));
    if (this.matches.length) this.text.setAttribute("aria-activedescendant", `hint-${this.chosen}`);
    else this.text.removeAttribute("aria-activedescendant");
  }

  choose(index) {
    this.text.value = this.matches[index][0];
    this.changed();
    this.showHints([]);
    this.text.focus();
  }

  key(event) {
    if (event.isComposing) return;
    const hinting = this.matches.length > 0;
    if (hinting && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.chosen = (this.chosen + step + this.matches.length) % this.matches.length;
      this.mark();
    } else if (hinting && event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      this.choose(this.chosen);
    } else if (hinting && event.key === "Escape") {
      event.preventDefault();
      this.showHints([]);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (hinting && this.matches[this.chosen][0] !== this.text.value.toLowerCase()) this.choose(this.chosen);
      else this.submit();
    }
  }

  submit() {
    const text = this.text.value.trim();
    if (!text && !this.files.length) return;
    if (new TextEncoder().encode(text).length > 100 * 1024) {
      this.on.problem("The text is longer than the 100 KB a message may have. Send it as a file instead.");
      return;
    }
    const files = this.files;
    this.files = [];
    this.fill("");
    this.showFiles();
    this.on.problem("");
    this.on.send(text, files);
    this.text.focus();
  }

  attach(list) {
    this.on.problem("");
    for (const file of list) {
      if (this.files.length >= MAX_FILES) this.on.problem(`A message may bring ${MAX_FILES} files at most.`);
      else if (file.size > MAX_FILE_BYTES) this.on.problem(`“${file.name}” is larger than the ${MAX_FILE_BYTES / 1024 / 1024} MB a file may have.`);
      else this.files.push(file);
    }
    this.showFiles();
    this.text.focus();
  }

  showFiles() {
    this.attached.replaceChildren(...this.files.map((file) => {
      const remove = button("", "remove", () => {
        this.files = this.files.filter((other) => other !== file);
        this.showFiles();
        this.text.focus();
      });
      remove.append(icon("cross"));
      remove.setAttribute("aria-label", `Remove ${file.name}`);
      return element("li", "", icon("file"), element("span", "file-name", file.name), element("span", "file-size", bytes(file.size)), remove);
    }));
    this.attached.hidden = !this.files.length;
    this.sendButton.disabled = !this.text.value.trim() && !this.files.length;
  }
}
