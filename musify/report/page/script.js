"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = {
    en: { title: "CUDA to MUSA: what was converted and what is left", overview: "Overview", byLibrary: "Names renamed, by library and evidence",
      byFinding: "Findings", byFolder: "By folder", effort: "Effort that is left, estimated", files: "Files", search: "Search in paths and findings (/)",
      severity: "Severity", finding: "Finding", onlyChanged: "only changed", choose: "Choose a file. Keys: / searches, n and p go to the next and previous file.",
      theme: "Light or dark", skip: "Skip to the report", all: "all", file: "file", folder: "folder", count: "count", library: "library", seen: "files seen",
      changed: "changed", renamed: "renamed", edits: "edits", error: "errors", warning: "warnings", note: "notes", suppressed: "suppressed",
      shown: "{0} of {1} files", becomes: "becomes", noDiff: "This file does not change.", noFindings: "No findings in this file.", line: "line",
      minutes: "minutes each", hours: "hours", basis: "The minutes are an assumption, not a measurement: an error is hand work, a warning a look, a note nothing. Renaming itself is done.",
      why: "Why", evidence: "evidence", unchanged: "{0} unchanged lines", target: "target {0}, SDK {1}; made by musify {2}", other: "中文" },
    zh: { title: "CUDA 迁移到 MUSA：已转换与遗留", overview: "概览", byLibrary: "已改名的名称（按库与佐证）", byFinding: "发现", byFolder: "按目录",
      effort: "剩余工作量估计", files: "文件", search: "搜索路径与发现（/）", severity: "级别", finding: "发现", onlyChanged: "仅已更改",
      choose: "请选择文件。按键：/ 搜索，n 与 p 前往下一个与上一个文件。", theme: "浅色或深色", skip: "跳到报告", all: "全部", file: "文件", folder: "目录", count: "数量",
      library: "库", seen: "个文件", changed: "已更改", renamed: "已改名", edits: "处编辑", error: "错误", warning: "警告", note: "提示", suppressed: "已屏蔽",
      shown: "{1} 个文件中的 {0} 个", becomes: "变为", noDiff: "该文件没有变化。", noFindings: "该文件没有发现。", line: "行", minutes: "每项分钟", hours: "小时",
      basis: "分钟数是假设而非测量：错误需要手工处理，警告需要查看，提示无需处理。改名已经完成。", why: "原因", evidence: "佐证", unchanged: "{0} 行未变",
      target: "目标 {0}，SDK {1}；由 musify {2} 生成", other: "English" },
  };
  const severities = ["error", "warning", "note"];
  const evidences = ["sdk", "project", "code", "documented", "table", "none"];
  let language = data.language in words ? data.language : "en";
  let current = -1;
  let matching = [];

  const say = (key, ...values) => values.reduce((text, value, i) => text.replace(`{${i}}`, value), words[language][key]);
  const byId = (id) => document.getElementById(id);
  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "class") made.className = value; else if (key.startsWith("on")) made.addEventListener(key.slice(2), value); else made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }
  function table(titles, rows) {
    const head = element("tr", {}, ...titles.map((title, i) => element("th", i ? { class: "number", scope: "col" } : { scope: "col" }, title)));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  }
  const worst = (file) => file.findings.reduce((rank, found) => Math.min(rank, severities.indexOf(found.severity)), 3);

  function overview() {
    const sums = data.summary;
    const counts = Object.fromEntries(severities.map((level) => [level, 0]));
    for (const file of data.files) for (const found of file.findings) counts[found.severity] += 1;
    const tiles = [["seen", sums.files], ["changed", sums.changed], ["renamed", sums.renamed], ["edits", sums.edits],
      ...severities.map((level) => [level, counts[level]]), ["suppressed", sums.suppressed]];
    byId("tiles").replaceChildren(...tiles.map(([key, value]) => element("li", { class: severities.includes(key) ? key : "" }, element("strong", {}, String(value)), say(key))));
    libraries(sums.names);
    kinds();
    folders();
    effort(counts);
  }
  function libraries(names) {
    const sums = new Map();
    for (const { library, evidence, count } of names) {
      const entry = sums.get(library) || {};
      entry[evidence] = (entry[evidence] || 0) + count;
      sums.set(library, entry);
    }
    const total = (entry) => Object.values(entry).reduce((a, b) => a + b, 0);
    const most = Math.max(1, ...[...sums.values()].map(total));
    const rows = [...sums].sort((a, b) => total(b[1]) - total(a[1])).map(([library, entry]) => {
      const label = evidences.filter((kind) => entry[kind]).map((kind) => `${kind} ${entry[kind]}`).join(", ");
      const bar = element("div", { class: "bar", role: "img", "aria-label": label, title: label });
      for (const kind of evidences) if (entry[kind]) {
        const part = element("span", { class: kind });
        part.style.width = `${(100 * entry[kind]) / most}%`;
        bar.append(part);
      }
      return element("tr", {}, element("td", {}, library), element("td", { class: "number" }, String(total(entry))), element("td", {}, bar));
    });
    const legend = element("p", { class: "legend" }, say("evidence"), ...evidences.flatMap((kind) => [element("i", { class: kind }), kind]));
    byId("libraries").replaceChildren(table([say("library"), say("count"), ""], rows), legend);
  }
  function kinds() {
    const counts = new Map();
    for (const file of data.files) for (const found of file.findings) counts.set(found.id, (counts.get(found.id) || 0) + 1);
    const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([id, count]) => element("tr", {},
      element("td", {}, element("button", { type: "button", onclick: () => { byId("kind").value = id; list(); byId("query").focus(); } }, id), ` ${data.kinds[id].title[language]}`),
      element("td", { class: "number" }, String(count))));
    byId("kinds").replaceChildren(table([say("finding"), say("count")], rows));
  }
  function folders() {
    const counts = new Map();
    for (const file of data.files) {
      const parts = file.path.split("/");
      const folder = parts.slice(0, Math.min(data.depth + 2, parts.length - 1)).join("/") || ".";
      const entry = counts.get(folder) || { files: 0, edits: 0, error: 0, warning: 0, note: 0 };
      entry.files += 1;
      entry.edits += file.edits;
      for (const found of file.findings) entry[found.severity] += 1;
      counts.set(folder, entry);
    }
    const rows = [...counts].sort((a, b) => b[1].error - a[1].error || b[1].warning - a[1].warning).slice(0, 40).map(([folder, entry]) => element("tr", {},
      element("td", {}, element("button", { type: "button", onclick: () => { byId("query").value = `${folder}/`; list(); } }, folder)),
      ...["files", "edits", ...severities].map((key) => element("td", { class: `number ${severities.includes(key) ? key : ""}` }, String(entry[key])))));
    byId("folders").replaceChildren(table([say("folder"), say("files"), say("edits"), say("error"), say("warning"), say("note")], rows));
  }
  function effort(counts) {
    let sum = 0;
    const rows = severities.map((level) => {
      const minutes = data.minutes[level];
      const hours = (counts[level] * minutes) / 60;
      sum += hours;
      return element("tr", {}, element("td", { class: level }, say(level)), element("td", { class: "number" }, String(counts[level])),
        element("td", { class: "number" }, String(minutes)), element("td", { class: "number" }, hours.toFixed(1)));
    });
    rows.push(element("tr", {}, element("td", {}, ""), element("td", {}, ""), element("td", {}, ""), element("td", { class: "number" }, element("strong", {}, sum.toFixed(1)))));
    byId("effort").replaceChildren(table(["", say("count"), say("minutes"), say("hours")], rows), element("p", { class: "legend" }, say("basis")));
  }

  function fits(file) {
    const query = byId("query").value.trim().toLowerCase();
    const level = byId("severity").value;
    const kind = byId("kind").value;
    if (byId("changed").checked && !file.edits && file.path === file.output) return false;
    const found = file.findings.filter((item) => (!level || item.severity === level) && (!kind || item.id === kind));
    if ((level || kind) && !found.length) return false;
    return !query || file.path.toLowerCase().includes(query) || found.some((item) => `${item.id} ${item.name} ${item.message}`.toLowerCase().includes(query));
  }
  function list() {
    matching = data.files.map((file, number) => number).filter((number) => fits(data.files[number]));
    byId("count").value = say("shown", matching.length, data.files.length);
    const root = { folders: new Map(), files: [] };
    for (const number of matching) {
      const parts = data.files[number].path.split("/");
      let place = root;
      for (const part of parts.slice(0, -1)) {
        if (!place.folders.has(part)) place.folders.set(part, { folders: new Map(), files: [] });
        place = place.folders.get(part);
      }
      place.files.push(number);
    }
    byId("tree").replaceChildren(...branch(root, matching.length <= 60));
  }
  function branch(place, open) {
    const made = [];
    for (const [name, below] of place.folders) {
      let label = name;
      let inner = below;
      while (inner.folders.size === 1 && !inner.files.length) { const [next, deeper] = [...inner.folders][0]; label += `/${next}`; inner = deeper; }
      const content = element("div", {});
      const fill = () => { if (!content.childElementCount) content.append(...branch(inner, open)); };
      const folder = element("details", { ontoggle: fill }, element("summary", {}, label), content);
      if (open || place.folders.size === 1) { folder.open = true; fill(); }
      made.push(folder);
    }
    for (const number of place.files) {
      const file = data.files[number];
      const level = severities[worst(file)] || "";
      made.push(element("button", { type: "button", "data-number": number, "aria-current": String(number === current), onclick: () => show(number) },
        element("span", {}, file.path.split("/").pop()), element("span", { class: level }, file.findings.length ? String(file.findings.length) : "")));
    }
    return made;
  }

  function show(number, focus = true) {
    current = number;
    for (const button of byId("tree").querySelectorAll("button")) button.setAttribute("aria-current", String(button.dataset.number === String(number)));
    const file = data.files[number];
    const title = file.path === file.output ? file.path : `${file.path} ${say("becomes")} ${file.output}`;
    const findings = file.findings.map((found) => element("div", { class: `found ${found.severity}` },
      element("strong", {}, `${found.id} ${say("line")} ${found.line}`), element("p", {}, found.message), element("p", {}, found.suggestion),
      element("small", {}, `${say("why")}: ${data.kinds[found.id].why[language]}`)));
    byId("file").replaceChildren(element("h3", {}, title), ...(findings.length ? findings : [element("p", { class: "hint" }, say("noFindings"))]), diff(file));
    if (focus) byId("file").focus({ preventScroll: false });
    try { history.replaceState(null, "", `#file=${encodeURIComponent(file.path)}`); } catch { /* a file that was opened in place */ }
  }
  function diff(file) {
    if (!file.diff) return element("p", { class: "hint" }, say("noDiff"));
    const lines = new Set(file.findings.map((found) => found.line));
    const body = element("tbody", {});
    let [oldLine, newLine] = [0, 0];
    let [removed, added] = [[], []];
    const flush = () => {
      for (let i = 0; i < Math.max(removed.length, added.length); i += 1) body.append(row(removed[i], added[i], lines));
      [removed, added] = [[], []];
    };
    for (const text of file.diff.split("\n")) {
      const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
      if (hunk) {
        flush();
        const skipped = Number(hunk[1]) - oldLine - 1;
        if (skipped > 0) body.append(element("tr", { class: "gap" }, element("td", { colspan: "4" }, say("unchanged", skipped))));
        [oldLine, newLine] = [Number(hunk[1]) - 1, Number(hunk[2]) - 1];
      } else if (text[0] === "-") { oldLine += 1; removed.push([oldLine, text.slice(1)]);
      } else if (text[0] === "+") { newLine += 1; added.push([newLine, text.slice(1)]);
      } else if (text[0] === " ") { flush(); oldLine += 1; newLine += 1; body.append(row([oldLine, text.slice(1)], [newLine, text.slice(1)], lines, true)); }
    }
    flush();
    const columns = element("colgroup", {}, ...["numbers", "", "numbers", ""].map((name) => element("col", { class: name })));
    return element("div", { class: "diff", tabindex: "0", role: "region", "aria-label": file.path }, element("table", {}, columns, body));
  }
  function row(before, after, lines, same = false) {
    const [left, right] = same || !before || !after ? [before && [before[1]], after && [after[1]]] : marked(before[1], after[1]);
    const cell = (kind, parts) => element("td", { class: same || !parts ? "" : kind }, ...(parts || []));
    return element("tr", { class: before && lines.has(before[0]) ? "has-finding" : "" }, element("td", { class: "number" }, before ? String(before[0]) : ""), cell("old", left),
      element("td", { class: "number" }, after ? String(after[0]) : ""), cell("new", right));
  }
  function marked(before, after) {
    const split = (text) => text.match(/\w+|\s+|[^\w\s]/gu) || [];
    const [a, b] = [split(before), split(after)];
    const parts = [[], []];
    const add = (side, text, changed) => { if (text) parts[side].push(changed ? element("mark", {}, text) : text); };
    let start = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
    let end = 0;
    while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
    const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
    add(0, a.slice(0, start).join("")); add(1, b.slice(0, start).join(""));
    if (middleA.length === middleB.length) middleA.forEach((text, i) => { add(0, text, text !== middleB[i]); add(1, middleB[i], text !== middleB[i]); });
    else { add(0, middleA.join(""), true); add(1, middleB.join(""), true); }
    add(0, a.slice(a.length - end).join("")); add(1, b.slice(b.length - end).join(""));
    return parts;
  }

  function step(by) {
    if (!matching.length) return;
    const place = matching.indexOf(current);
    show(matching[(place + by + matching.length) % matching.length], false);
  }
  function paint() {
    document.documentElement.lang = language;
    for (const place of document.querySelectorAll("[data-text]")) place.textContent = say(place.dataset.text);
    byId("language").textContent = say("other");
    byId("about").textContent = say("target", data.target.architectures.join(", "), data.target.sdk, data.tool.version);
    const [level, kind] = [byId("severity").value, byId("kind").value];
    byId("severity").replaceChildren(element("option", { value: "" }, say("all")), ...severities.map((name) => element("option", { value: name }, say(name))));
    byId("kind").replaceChildren(element("option", { value: "" }, say("all")), ...Object.keys(data.kinds).map((id) => element("option", { value: id }, `${id} ${data.kinds[id].title[language]}`)));
    [byId("severity").value, byId("kind").value] = [level, kind];
    overview();
    list();
    if (current >= 0) show(current, false);
  }
  function theme(name) { document.documentElement.dataset.theme = name; }

  theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  byId("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  byId("language").addEventListener("click", () => { language = language === "en" ? "zh" : "en"; paint(); });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["query", "severity", "kind", "changed"]) byId(id).addEventListener("input", list);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "/") { event.preventDefault(); byId("query").focus(); } else if (event.key === "n") step(1); else if (event.key === "p") step(-1);
  });
  paint();
  const asked = decodeURIComponent((/^#file=(.*)$/.exec(location.hash) || ["", ""])[1]);
  const number = asked ? data.files.findIndex((file) => file.path === asked) : -1;
  if (number >= 0) show(number, false);
})();
