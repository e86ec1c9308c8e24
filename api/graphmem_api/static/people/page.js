// The page for people: what is remembered, for the student, a class's teacher and the auditor. It asks the API and nothing else.
import { CLOSE, OPEN, ask, claims } from "./api.js";
import { Auditor } from "./auditor.js";
import { html, render, useRef, useState } from "./htm-preact.js";
import { STUDENT_VIEWS } from "./student.js";
import { Teacher } from "./teacher.js";
import { LANGUAGES, say, speak, spoken } from "./words.js";

// Of an app's link, which never reaches the server: #code=...&student=...&session=... or #code=...&students=...
const LINK = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
history.replaceState(null, "", location.pathname);

const READERS = { teacher: Teacher, auditor: Auditor };
const ROLES = ["app", ...Object.keys(READERS)];
/** What an access code opens; without one, as where a proxy adds it, a student's memories. */
const roleOf = (code) => (code ? claims(code).role : "app");

/** Ask for another code where that of the link is of no use any more. */
function forgetLinkAfter(refused) {
  if (refused.code === "UNAUTHENTICATED") delete LINK.code;
}

/** The access that a link gives without asking for anything, or none. */
function linked() {
  if (LINK.code && roleOf(LINK.code) in READERS) return LINK;
  return LINK.session && LINK.student ? LINK : null;
}

function Unlock({ onOpen, told }) {
  const [error, setError] = useState("");
  const [code, setCode] = useState(LINK.code ?? "");
  const role = roleOf(code);
  const open = async (event) => {
    event.preventDefault();
    const { student, password } = Object.fromEntries(new FormData(event.target));
    if (role in READERS) return onOpen({ ...LINK, code });
    try {
      const { token } = await ask({ code, student }, OPEN, { password });
      onOpen({ code, student, session: token });
    } catch (refused) {
      forgetLinkAfter(refused);
      setError(refused.code === "LOCKED" ? say("no_entry") : refused.message);
    }
  };
  return html`<form class="card" onSubmit=${open}>
    ${!LINK.code && html`<label>
      ${say("code")}<input name="code" value=${code} autocomplete="off" onInput=${(event) => setCode(event.target.value.trim())} />
    </label>`}
    ${!(role in READERS) && html`
      <label>
        ${say("student")}<input name="student" required defaultValue=${claims(code).student ?? LINK.student ?? ""} autocomplete="username" />
      </label>
      <label>${say("password")}<input name="password" type="password" required autocomplete="current-password" /></label>`}
    <p role="alert">${role && !ROLES.includes(role) ? say("no_view") : error}</p>
    <p role="status">${told}</p>
    <button class="main">${say("unlock")}</button>
  </form>`;
}

/** The title, the languages, and what else stands in the head of each view. */
function Head({ title, speakIn, broad, children }) {
  document.title = say(title);
  const others = Object.entries(LANGUAGES).filter(([name]) => name !== spoken());
  return html`<header class=${broad ? "broad" : ""}>
    <h1>${say(title)}</h1>
    <div class="row">
      ${others.map(([name, own]) => html`<button key=${name} lang=${name} onClick=${() => speakIn(name)}>${own}</button>`)}
      ${children}
    </div>
  </header>`;
}

const Nav = ({ view, setView }) => html`<nav aria-label=${say("parts")}>
  ${Object.keys(STUDENT_VIEWS).map((name) => html`<button key=${name} aria-current=${name === view ? "page" : null} onClick=${() => setView(name)}>
    ${say(name)}
  </button>`)}
</nav>`;

function Page() {
  const [access, setAccess] = useState(linked());
  const [view, setView] = useState("memories");
  const [told, setTold] = useState("");
  const [error, setError] = useState("");
  const status = useRef(null);
  const [, setLanguage] = useState(spoken());
  const speakIn = (name) => speak(name).then(() => setLanguage(name));
  const leave = (words = "") => { setAccess(null); setView("memories"); setTold(words); setError(""); };

  /** Do what asks the API, and tell where it is refused; what comes after it is not done then. */
  const tell = async (asks) => {
    setError("");
    try {
      return await asks();
    } catch (refused) {
      setTold("");
      forgetLinkAfter(refused);
      // The session or the code has ended: another one must be given.
      if (["LOCKED", "UNAUTHENTICATED"].includes(refused.code)) leave(refused.message);
      else setError(refused.message ?? say("UNAVAILABLE"));
      throw refused;
    }
  };
  const load = (query, variables) => tell(() => ask(access, query, variables));
  const act = async (name, query, variables) => {
    setTold(say("wait"));
    const done = await load(query, variables).then(() => true, () => false);
    if (done) {
      setTold(say(name));
      // The button that was pressed may be gone.
      status.current?.focus();
    }
    return done;
  };
  const look = (name) => { setTold(""); setError(""); setView(name); };
  const opened = (given) => { setTold(""); setAccess(given); };

  if (access === null) return html`<${Head} title="title" speakIn=${speakIn} /><main><${Unlock} onOpen=${opened} told=${told} /></main>`;
  const role = access.session ? "app" : roleOf(access.code);
  const Shown = READERS[role] ?? STUDENT_VIEWS[view];
  const lock = async () => {
    if (access.session) await act("wait", CLOSE);
    // Whoever sits down here next needs a link or a code of their own.
    for (const name of Object.keys(LINK)) delete LINK[name];
    leave();
  };
  const broad = role in READERS;
  return html`<${Head} title=${broad ? `title_${role}` : "title"} broad=${broad} speakIn=${speakIn}>
      <button onClick=${lock}>${say("lock")}</button>
    <//>
    ${!broad && html`<${Nav} view=${view} setView=${look} />`}
    <main class=${broad ? "broad" : ""}>
      <p role="status" tabindex="-1" ref=${status}>${told}</p>
      <p role="alert">${error}</p>
      <${Shown} access=${access} load=${load} act=${act} tell=${tell} leave=${leave} />
    </main>`;
}

await speak();
// A view that could not be loaded has told why.
addEventListener("unhandledrejection", (event) => event.reason?.code && event.preventDefault());
render(html`<${Page} />`, document.getElementById("page"));
