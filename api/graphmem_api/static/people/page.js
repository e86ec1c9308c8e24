// The page for people: what is remembered of a student, in the student's own words. It asks the API and nothing else.
import { html, render, useEffect, useState } from "./htm-preact.js";

const LANGUAGE = navigator.language.startsWith("de") ? "de" : "en";
const TEXTS = await (await fetch(`people/${LANGUAGE}.json`)).json();
// Of an app's link, which never reaches the server: #code=...&student=...&session=...
const LINK = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", location.pathname);

const say = (name, values = {}) => TEXTS[name].replace(/{(\w+)}/g, (_, key) => values[key]);
const day = (at) => new Date(at).toLocaleDateString(LANGUAGE, { dateStyle: "long" });

const MEMORY = "id content quote domain timestamp validAt invalidAt reliability role sources { kind at }";
const OPEN = "mutation($id: ID!, $password: String!) { openSession(studentId: $id, password: $password) { token } }";
const CLOSE = "mutation($id: ID!) { closeSession(studentId: $id) }";
const LIST = `query($id: ID!, $after: String) { student(id: $id) { memories(first: 100, after: $after) { items { ${MEMORY} } next } } }`;
const SEARCH = `query($id: ID!, $query: String!) { student(id: $id) { recall(query: $query, limit: 20) { memory { ${MEMORY} } } } }`;
const UNSURE = `query($id: ID!) { student(id: $id) { uncertainties { id state a { ${MEMORY} } b { ${MEMORY} } } } }`;
const LEDGER = "query($id: ID!) { student(id: $id) { ledger(active: true) { id category content createdAt } } }";
const CORRECT = "mutation($id: ID!, $memory: ID!, $content: String!) { correctMemory(studentId: $id, id: $memory, content: $content) { id } }";
const FORGET = "mutation($id: ID!, $memory: ID!) { forget(studentId: $id, memoryId: $memory) { memories } }";
const SETTLE = "mutation($id: ID!, $doubt: ID!, $winner: ID!) { resolveUncertainty(studentId: $id, id: $doubt, resolution: USER_CLARIFIED, winnerId: $winner) { id } }";
const EXPORT = "mutation($id: ID!) { exportStudent(studentId: $id) }";
const ERASE = "mutation($id: ID!) { eraseStudent(studentId: $id) { memories } }";

/** Ask the API for one field; a refusal is an error with the API's sentence. */
async function ask(access, query, variables = {}) {
  const headers = { "Content-Type": "application/json" };
  if (access.code) headers.Authorization = `Bearer ${access.code}`;
  if (access.session) headers["X-Graphmem-Session"] = access.session;
  let answer;
  try {
    const body = JSON.stringify({ query, variables: { id: access.student, ...variables } });
    answer = await (await fetch("graphql", { method: "POST", headers, body })).json();
  } catch {
    throw Object.assign(new Error(say("UNAVAILABLE")), { code: "UNAVAILABLE" });
  }
  const value = answer.errors ? null : Object.values(answer.data)[0];
  if (value === null) {
    // What is refused has a code; a student who is not there any more is null.
    const code = answer.errors?.[0].extensions?.code ?? "LOCKED";
    throw Object.assign(new Error(TEXTS[code] ?? answer.errors[0].message), { code });
  }
  return value;
}

function Unlock({ onOpen, told }) {
  const [error, setError] = useState("");
  const open = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    const access = { code: given.code ?? LINK.get("code"), student: given.student };
    try {
      const { token } = await ask(access, OPEN, { password: given.password });
      onOpen({ ...access, session: token });
    } catch (refused) {
      setError(refused.code === "LOCKED" ? say("no_entry") : refused.message);
    }
  };
  return html`<form class="card" onSubmit=${open}>
    ${!LINK.get("code") && html`<label>${say("code")}<input name="code" autocomplete="off" /></label>`}
    <label>${say("student")}<input name="student" required value=${LINK.get("student") ?? ""} autocomplete="username" /></label>
    <label>${say("password")}<input name="password" type="password" required autocomplete="current-password" /></label>
    <p role="alert">${error}</p>
    <p role="status">${told}</p>
    <button class="main">${say("unlock")}</button>
  </form>`;
}

function Memory({ memory, act }) {
  const [open, setOpen] = useState("");
  const toggle = (name) => setOpen(open === name ? "" : name);
  const past = memory.invalidAt !== null;
  const origin = memory.quote ?? memory.content;
  const kinds = [...new Set(memory.sources.map((source) => say(source.kind)))].join(", ") || say("FORMED");
  const correct = (event) => {
    event.preventDefault();
    act("corrected", CORRECT, { memory: memory.id, content: new FormData(event.target).get("content") });
  };
  return html`<li class=${past ? "card past" : "card"}>
    <p class="words">${memory.content}</p>
    <p class="quiet">${day(memory.timestamp)} ${past && say("before")}</p>
    <div class="row">
      <button onClick=${() => toggle("why")} aria-expanded=${open === "why"}>${say("why")}</button>
      ${!past && html`<button onClick=${() => toggle("wrong")} aria-expanded=${open === "wrong"}>${say("wrong")}</button>`}
      <button class="danger" onClick=${() => toggle("forget")} aria-expanded=${open === "forget"}>${say("forget")}</button>
    </div>
    ${open === "why" && html`<p>${say("because", { quote: origin, date: day(memory.timestamp) })} ${say("noted", { date: day(memory.sources[0]?.at ?? memory.timestamp), kinds })}</p>`}
    ${open === "wrong" && html`<form onSubmit=${correct}>
      <label>${say("right")}<textarea name="content" required maxlength="2000">${memory.content}</textarea></label>
      <button class="main">${say("save")}</button>
    </form>`}
    ${open === "forget" && html`<p>${say("forget_sure")}</p>
      <div class="row">
        <button class="danger" onClick=${() => act("forgotten", FORGET, { memory: memory.id })}>${say("yes_forget")}</button>
        <button onClick=${() => setOpen("")}>${say("cancel")}</button>
      </div>`}
  </li>`;
}

// An episode or a lesson holds what is listed anyway.
const single = (memory) => memory.content && memory.role !== "EPISODE" && memory.role !== "LESSON";

function Memories({ load, act }) {
  const [shown, setShown] = useState({ items: null, next: null });
  const [query, setQuery] = useState("");
  const [byTheme, setByTheme] = useState(true);
  const list = async (after) => {
    const found = await load(LIST, { after });
    setShown({ items: [...(after ? shown.items : []), ...found.memories.items.filter(single)], next: found.memories.next });
  };
  const search = async (event) => {
    event?.preventDefault();
    if (!query.trim()) return list(null);
    const found = await load(SEARCH, { query });
    setShown({ items: found.recall.map((each) => each.memory).filter(single), next: null });
  };
  useEffect(() => { list(null); }, []);
  if (shown.items === null) return html`<p>${say("wait")}</p>`;
  const groups = Object.groupBy(shown.items, (memory) => (byTheme ? say(memory.domain) : day(memory.timestamp)));
  const changed = async (...request) => (await act(...request)) && search();
  return html`<form class="row" role="search" onSubmit=${search}>
      <label>${say("searching")}<input type="search" value=${query} onInput=${(event) => setQuery(event.target.value)} /></label>
      <button class="main">${say("search")}</button>
      <button type="button" aria-pressed=${!byTheme} onClick=${() => setByTheme(!byTheme)}>${say(byTheme ? "by_time" : "by_theme")}</button>
    </form>
    ${shown.items.length === 0 && html`<p>${say("nothing")}</p>`}
    ${Object.entries(groups).map(([name, items]) => html`<section key=${name}>
      <h2>${name}</h2>
      <ul>${items.map((memory) => html`<${Memory} key=${memory.id} memory=${memory} act=${changed} />`)}</ul>
    </section>`)}
    ${shown.next && html`<button onClick=${() => list(shown.next)}>${say("more")}</button>`}`;
}

function Unsure({ load, act }) {
  const [doubts, setDoubts] = useState([]);
  const list = async () => {
    const open = (await load(UNSURE)).uncertainties.filter((each) => each.b && ["OPEN", "SURFACED"].includes(each.state));
    setDoubts(open);
  };
  useEffect(() => { list(); }, []);
  const settle = async (doubt, winner) => (await act("settled", SETTLE, { doubt, winner })) && list();
  if (doubts.length === 0) return html`<p>${say("nothing")}</p>`;
  return html`<ul>${doubts.map((doubt) => html`<li class="card" key=${doubt.id}>
    <p>${say("which")}</p>
    <div class="row">${[doubt.a, doubt.b].map((side) => html`<button onClick=${() => settle(doubt.id, side.id)}>${say("this", { words: side.content })}</button>`)}</div>
  </li>`)}</ul>`;
}

function Ledger({ load }) {
  const [entries, setEntries] = useState([]);
  useEffect(() => { load(LEDGER).then((found) => setEntries(found.ledger)); }, []);
  if (entries.length === 0) return html`<p>${say("nothing")}</p>`;
  return html`<ul>${entries.map((entry) => html`<li class="card" key=${entry.id}>
    <p class="words">${entry.content}</p>
    <p class="quiet">${say(entry.category)}, ${day(entry.createdAt)}</p>
  </li>`)}</ul>`;
}

function Data({ access, load, act, leave }) {
  const [typed, setTyped] = useState("");
  const save = async () => {
    const document_ = await load(EXPORT);
    const link = Object.assign(document.createElement("a"), { download: `${access.student}.json` });
    link.href = URL.createObjectURL(new Blob([document_], { type: "application/json" }));
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const erase = async (event) => {
    event.preventDefault();
    if (await act("erased", ERASE)) leave(say("erased"));
  };
  return html`<p class="card"><button class="main" onClick=${save}>${say("export")}</button></p>
    <form class="card" onSubmit=${erase}>
      <label>${say("erase_sure")}<input value=${typed} autocomplete="off" onInput=${(event) => setTyped(event.target.value)} /></label>
      <button class="danger" disabled=${typed !== access.student}>${say("erase")}</button>
    </form>`;
}

const VIEWS = { memories: Memories, unsure: Unsure, ledger: Ledger, data: Data };

function Page() {
  const linked = { code: LINK.get("code"), student: LINK.get("student"), session: LINK.get("session") };
  const [access, setAccess] = useState(linked.session && linked.student ? linked : null);
  const [view, setView] = useState("memories");
  const [told, setTold] = useState("");
  const [error, setError] = useState("");
  const leave = (words = "") => { setAccess(null); setView("memories"); setTold(words); setError(""); };
  const load = async (query, variables) => {
    setError("");
    try {
      return await ask(access, query, variables);
    } catch (refused) {
      setTold("");
      // The session has ended: the password opens another one.
      if (refused.code === "LOCKED") leave(refused.message);
      else setError(refused.message);
      throw refused;
    }
  };
  const act = async (name, query, variables) => {
    setTold(say("wait"));
    const done = await load(query, variables).then(() => true, () => false);
    if (done) setTold(say(name));
    return done;
  };
  const lock = () => act("wait", CLOSE).then(() => leave());
  if (access === null) return html`<header><h1>${say("title")}</h1></header><main><${Unlock} onOpen=${(opened) => { setTold(""); setAccess(opened); }} told=${told} /></main>`;
  return html`<header>
      <h1>${say("title")}</h1>
      <button onClick=${lock}>${say("lock")}</button>
      <nav>${Object.keys(VIEWS).map((name) => html`<button aria-current=${name === view} onClick=${() => { setTold(""); setView(name); }}>${say(name)}</button>`)}</nav>
    </header>
    <main>
      <p role="status">${told}</p>
      <p role="alert">${error}</p>
      <${VIEWS[view]} access=${access} load=${load} act=${act} leave=${leave} />
    </main>`;
}

document.documentElement.lang = LANGUAGE;
document.title = say("title");
// A view that could not be loaded has told why.
addEventListener("unhandledrejection", (event) => event.reason?.code && event.preventDefault());
render(html`<${Page} />`, document.getElementById("page"));
