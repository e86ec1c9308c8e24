// What a teacher sees of a class: how well each concept is known by each student, in numbers and without anybody's words.
import { PROGRESS, askEach } from "./api.js";
import { html, useState } from "./htm-preact.js";
import { day, say, shortDay } from "./words.js";

const STUCK = 0.2; // familiarity of what was practised and failed; what went well once is above it for a year
const FADES_DAYS = 7;
const LEVELS = 5;

const percent = (share) => Math.round(100 * share);
const isStuck = (known) => known.lastPractised !== null && known.familiarity < STUCK;
const isFading = (known) => {
  const days = known.fadesAt === null ? Infinity : (new Date(known.fadesAt) - Date.now()) / 86_400_000;
  return !isStuck(known) && days < FADES_DAYS;
};
const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;

/** Concepts of a class, the least known first: of each its name, who knows it how well, who is stuck, for whom it fades. */
function conceptsOf(students) {
  const concepts = new Map();
  for (const { id: student, progress } of students) {
    for (const known of progress) {
      const { id, name, domain } = known.concept;
      if (!concepts.has(id)) concepts.set(id, { id, name, domain, known: new Map() });
      concepts.get(id).known.set(student, known);
    }
  }
  const whom = (known, test) => [...known].filter(([, each]) => test(each)).map(([student]) => student);
  return [...concepts.values()]
    .map((each) => ({
      ...each,
      level: mean([...each.known.values()].map(({ familiarity }) => familiarity)),
      stuck: whom(each.known, isStuck),
      fading: whom(each.known, isFading),
    }))
    .sort((a, b) => a.level - b.level || a.name.localeCompare(b.name));
}

function Cell({ known }) {
  if (!known) return html`<td class="level none"><span class="hidden">${say("not_met")}</span></td>`;
  const level = Math.min(LEVELS - 1, Math.floor(known.familiarity * LEVELS));
  return html`<td class=${`level level-${level}`}>
    ${percent(known.familiarity)}
    ${isStuck(known) && html`<b>!<span class="hidden">${say("stuck")}</span></b>`}
    ${isFading(known) && html`<b>↘<span class="hidden">${say("fading")}</span></b>`}
  </td>`;
}

/** A row of the table, which opens to a sentence a student. */
function Row({ concept, ids }) {
  const [open, setOpen] = useState(false);
  const told = ([student, known]) => {
    const change = percent(known.trend);
    const trend = say(change > 0 ? "better" : change < 0 ? "worse" : "same", { change: Math.abs(change) });
    const last = known.lastPractised ? say("practised", { date: day(known.lastPractised) }) : say("never_practised");
    const fades = isFading(known) ? say("fades", { date: shortDay(known.fadesAt) }) : "";
    return html`<li key=${student}><strong>${student}</strong>: ${percent(known.familiarity)}. ${trend} ${last} ${fades}</li>`;
  };
  return html`<tr>
      <th scope="row"><button aria-expanded=${open} onClick=${() => setOpen(!open)}>${concept.name}</button></th>
      ${ids.map((id) => html`<${Cell} key=${id} known=${concept.known.get(id)} />`)}
    </tr>
    ${open && html`<tr><td class="detail" colspan=${ids.length + 1}><ul>${[...concept.known].map(told)}</ul></td></tr>`}`;
}

/** Concepts and for each the students that a test finds. */
const Found = ({ title, none, concepts, whom }) => html`<section class="card">
  <h2>${say(title)}</h2>
  ${concepts.length === 0 && html`<p>${say(none)}</p>`}
  <ul>${concepts.map((each) => html`<li key=${each.id}><strong>${each.name}</strong>: ${each[whom].join(", ")}</li>`)}</ul>
</section>`;

export function Teacher({ access, tell }) {
  const [shown, setShown] = useState(null);
  const [domain, setDomain] = useState("");
  const show = async (ids) => {
    const found = await tell(() => askEach(access, PROGRESS, ids));
    setShown({ students: found.filter(Boolean), missing: ids.filter((_, i) => found[i] === null) });
  };
  const asked = (event) => {
    event.preventDefault();
    show([...new Set(new FormData(event.target).get("students").split(/[\s,;]+/).filter(Boolean))]);
  };
  const form = html`<form class="card" onSubmit=${asked}>
    <label>${say("class_students")}<textarea name="students" required rows="2">${access.students ?? ""}</textarea></label>
    <button class="main">${say("show_class")}</button>
  </form>`;
  if (shown === null) return form;
  const all = conceptsOf(shown.students);
  const domains = [...new Set(all.map((each) => each.domain).filter(Boolean))].sort();
  const concepts = all.filter((each) => !domain || each.domain === domain);
  const ids = shown.students.map(({ id }) => id);
  return html`${form}
    ${shown.missing.length > 0 && html`<p class="card">${say("missing", { names: shown.missing.join(", ") })}</p>`}
    ${all.length === 0 ? html`<p class="card">${say("nothing_learned")}</p>` : html`
      <div class="halves">
        <${Found} title="stuck_title" none="nobody_stuck" concepts=${concepts.filter((each) => each.stuck.length)} whom="stuck" />
        <${Found} title="fading_title" none="nobody_fading" concepts=${concepts.filter((each) => each.fading.length)} whom="fading" />
      </div>
      ${domains.length > 1 && html`<label>${say("domain")}<select value=${domain} onChange=${(event) => setDomain(event.target.value)}>
        <option value="">${say("every_domain")}</option>
        ${domains.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
      </select></label>`}
      <p class="quiet">${say("map_help")}</p>
      <div class="scroll" role="region" tabindex="0" aria-label=${say("map")}>
        <table class="map">
          <thead><tr><th scope="col">${say("concept")}</th>${ids.map((id) => html`<th scope="col" key=${id}>${id}</th>`)}</tr></thead>
          <tbody>${concepts.map((each) => html`<${Row} key=${each.id} concept=${each} ids=${ids} />`)}</tbody>
        </table>
      </div>`}`;
}
