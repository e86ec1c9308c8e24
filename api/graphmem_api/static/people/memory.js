// One memory as people see it: its words, why it is known, and what can be done about it.
import { CORRECT, FORGET } from "./api.js";
import { html, useState } from "./htm-preact.js";
import { day, say } from "./words.js";

/** An episode or a lesson holds what is listed anyway. */
export const single = (memory) => memory.content && memory.role !== "EPISODE" && memory.role !== "LESSON";

/** Sentences that say where a memory comes from: one a source, the same one once. */
function reasons(memory) {
  const quote = memory.quote ?? memory.content;
  const told = memory.sources.map(({ kind, at }) => say(kind, { quote, date: day(at) }));
  return told.length ? [...new Set(told)] : [say("FORMED", { date: day(memory.timestamp) })];
}

/** Buttons of which each opens something beneath them, one at a time; `about` is the id of what they are for.
 * Other buttons may stand before them.
 */
export function Choices({ choices, about, children }) {
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null);
  return html`<div class="row">
      ${children}
      ${choices.map(({ name, danger }) => html`<button key=${name} class=${danger ? "danger" : ""} aria-describedby=${about}
        aria-expanded=${open === name} onClick=${() => setOpen(open === name ? null : name)}>${say(name)}</button>`)}
    </div>
    ${choices.find((each) => each.name === open)?.shown(close)}`;
}

export const Sure = ({ question, yes, onYes, close }) => html`<p>${say(question)}</p>
  <div class="row">
    <button class="danger" onClick=${onYes}>${say(yes)}</button>
    <button onClick=${close}>${say("cancel")}</button>
  </div>`;

/** A memory; what is given as children stands before its own buttons. */
export function Memory({ memory, act, children }) {
  const past = memory.invalidAt !== null;
  const correct = (event) => {
    event.preventDefault();
    act("corrected", CORRECT, { memory: memory.id, content: new FormData(event.target).get("content") });
  };
  const why = { name: "why", shown: () => reasons(memory).map((reason) => html`<p class="reason" key=${reason}>${reason}</p>`) };
  const wrong = {
    name: "wrong",
    shown: () => html`<form class="spaced" onSubmit=${correct}>
      <label>${say("right")}<textarea name="content" required maxlength="2000">${memory.content}</textarea></label>
      <button class="main">${say("save")}</button>
    </form>`,
  };
  const forget = {
    name: "forget",
    danger: true,
    shown: (close) => html`<${Sure} question="forget_sure" yes="yes_forget" close=${close}
      onYes=${() => act("forgotten", FORGET, { memory: memory.id })} />`,
  };
  return html`<article class=${`card theme-${memory.domain} ${past ? "past" : ""}`}>
    <p class="words" id=${`words-${memory.id}`}>${memory.content}</p>
    <p class="quiet">${day(memory.timestamp)}${past ? `. ${say("before")}` : ""}</p>
    <${Choices} about=${`words-${memory.id}`} choices=${past ? [why, forget] : [why, wrong, forget]}>${children}<//>
  </article>`;
}
