// What a student sees and does: memories, what is unsure, promises and rules, a copy, and the end of it all.
import { DONE, DROP, ERASE, EXPORT, LEDGER, LIST, SEARCH, SETTLE, UNDO, UNSURE } from "./api.js";
import { html, useEffect, useState } from "./htm-preact.js";
import { Choices, Memory, Sure, single } from "./memory.js";
import { Picture } from "./picture.js";
import { day, say } from "./words.js";

/** Items by what `name` says of each, in the order in which the names come. */
function grouped(items, name) {
  const groups = new Map();
  for (const item of items) groups.set(name(item), [...(groups.get(name(item)) ?? []), item]);
  return [...groups];
}

function Memories({ load, act }) {
  const [shown, setShown] = useState({ items: null, next: null });
  const [query, setQuery] = useState("");
  const [byTheme, setByTheme] = useState(true);
  const list = async (after = null) => {
    const { memories } = await load(LIST, { after });
    setShown({ items: [...(after ? shown.items : []), ...memories.items.filter(single)], next: memories.next });
  };
  const search = async (event) => {
    event?.preventDefault();
    if (!query.trim()) return list();
    const { recall } = await load(SEARCH, { query });
    setShown({ items: recall.map((each) => each.memory).filter(single), next: null });
  };
  useEffect(() => { list(); }, []);
  if (shown.items === null) return html`<p>${say("wait")}</p>`;
  const groups = grouped(shown.items, (memory) => (byTheme ? say(memory.domain) : day(memory.timestamp)));
  const changed = async (...request) => (await act(...request)) && search();
  return html`<form class="row" role="search" onSubmit=${search}>
      <label class="wide">${say("searching")}<input type="search" value=${query} onInput=${(event) => setQuery(event.target.value)} /></label>
      <button class="main">${say("search")}</button>
    </form>
    <div class="row" role="group" aria-label=${say("order")}>
      ${[true, false].map((theme) => html`<button key=${theme} aria-pressed=${theme === byTheme} onClick=${() => setByTheme(theme)}>
        ${say(theme ? "by_theme" : "by_time")}</button>`)}
    </div>
    ${shown.items.length === 0 && html`<p class="card">${say("nothing")}</p>`}
    ${groups.map(([name, items]) => html`<section key=${name}>
      <h2>${name}</h2>
      ${items.map((memory) => html`<${Memory} key=${memory.id} memory=${memory} act=${changed} />`)}
    </section>`)}
    ${shown.next && html`<button onClick=${() => list(shown.next)}>${say("more")}</button>`}`;
}

/** Statements of which it is unsure whether they are so, or which of two is; and what the student has said to that. */
function Unsure({ load, act }) {
  const [doubts, setDoubts] = useState(null);
  const list = async () => setDoubts((await load(UNSURE)).uncertainties);
  useEffect(() => { list(); }, []);
  if (doubts === null) return html`<p>${say("wait")}</p>`;
  const open = doubts.filter((each) => ["OPEN", "SURFACED"].includes(each.state));
  const settled = doubts.filter((each) => each.resolution === "USER_CLARIFIED");
  const settle = async (doubt, winner) => (await act("settled", SETTLE, { doubt, winner })) && list();
  const undo = async (doubt) => (await act("undone", UNDO, { doubt })) && list();
  const changed = async (...request) => (await act(...request)) && list();
  return html`${open.length === 0 && html`<p class="card">${say("all_sure")}</p>`}
    ${open.filter((each) => !each.b).map((doubt) => html`<section key=${doubt.id}>
      <h2>${say("is_it_so")}</h2>
      <${Memory} memory=${doubt.a} act=${changed}>
        <button class="main" onClick=${() => settle(doubt.id, doubt.a.id)}>${say("it_is_so")}</button>
      <//>
    </section>`)}
    ${open.filter((each) => each.b).map((doubt) => html`<article class="card" key=${doubt.id}>
      <h2>${say("which")}</h2>
      <div class="choice">${[doubt.a, doubt.b].map((side) => html`<button key=${side.id} onClick=${() => settle(doubt.id, side.id)}>
        ${say("this", { words: side.content })} <span class="quiet">${day(side.timestamp)}</span></button>`)}</div>
    </article>`)}
    ${settled.length > 0 && html`<h2>${say("you_settled")}</h2>`}
    ${settled.map((doubt) => html`<article class="card" key=${doubt.id}>
      ${[doubt.a, doubt.b].filter(Boolean).map((side) => html`<p key=${side.id} class=${side.invalidAt ? "words old" : "words"}>${side.content}</p>`)}
      <button onClick=${() => undo(doubt.id)}>${say("undo")}</button>
    </article>`)}`;
}

/** Promises, rules and what else always counts. */
function Ledger({ load, act }) {
  const [entries, setEntries] = useState(null);
  const list = async () => setEntries((await load(LEDGER)).ledger);
  useEffect(() => { list(); }, []);
  if (entries === null) return html`<p>${say("wait")}</p>`;
  const change = async (...request) => (await act(...request)) && list();
  const drop = (entry) => ({
    name: "forget",
    danger: true,
    shown: (close) => html`<${Sure} question="drop_sure" yes="yes_forget" close=${close}
      onYes=${() => change("forgotten", DROP, { entry: entry.id })} />`,
  });
  return html`${entries.length === 0 && html`<p class="card">${say("nothing")}</p>`}
    ${entries.map((entry) => html`<article class="card" key=${entry.id}>
      <p class="words" id=${`words-${entry.id}`}>${entry.content}</p>
      <p class="quiet">${say(entry.category)}, ${day(entry.createdAt)}</p>
      <${Choices} about=${`words-${entry.id}`} choices=${[drop(entry)]}>
        ${["PROMISE", "DEBT"].includes(entry.category) && html`<button class="main"
          onClick=${() => change("settled", DONE, { entry: entry.id })}>${say("done")}</button>`}
      <//>
    </article>`)}`;
}

function Data({ access, load, act, leave }) {
  const [typed, setTyped] = useState("");
  const save = async () => {
    const copy = new Blob([await load(EXPORT)], { type: "application/json" });
    const link = Object.assign(document.createElement("a"), { download: `${access.student}.json`, href: URL.createObjectURL(copy) });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const erase = async (event) => {
    event.preventDefault();
    if (await act("erased", ERASE)) leave(say("erased"));
  };
  return html`<section class="card">
      <h2>${say("export_title")}</h2>
      <p>${say("export_about")}</p>
      <button class="main" onClick=${save}>${say("export")}</button>
    </section>
    <form class="card" onSubmit=${erase}>
      <h2>${say("erase")}</h2>
      <label>
        ${say("erase_sure", { id: access.student })}
        <input value=${typed} autocomplete="off" onInput=${(event) => setTyped(event.target.value)} />
      </label>
      <button class="danger" disabled=${typed !== access.student}>${say("erase")}</button>
    </form>`;
}

export const STUDENT_VIEWS = { memories: Memories, picture: Picture, unsure: Unsure, ledger: Ledger, data: Data };
