// What an auditor sees: flags and trends of wellbeing, counts and integrity, and nothing that anybody said.
import { INTEGRITY, STUDENTS, WELLBEING, ask, askEach } from "./api.js";
import { html, useEffect, useRef, useState } from "./htm-preact.js";
import { moment, say, shortDay } from "./words.js";

const CHART = { width: 320, height: 110, side: 20 };

/** The mood of each week as a line between -1 and 1, with a gap where nothing was said; the table beneath has the numbers. */
function Chart({ weeks }) {
  const x = (n) => CHART.side + (n * (CHART.width - 2 * CHART.side)) / Math.max(1, weeks.length - 1);
  const y = (mood) => (CHART.height * (1 - mood)) / 2;
  const points = weeks.map((week, n) => ({ ...week, x: x(n) })).filter((week) => week.meanValence !== null);
  return html`<svg class="chart" viewBox=${`0 0 ${CHART.width} ${CHART.height}`} role="img" aria-label=${say("mood_chart")}>
    ${[1, 0, -1].map((mood) => html`<text key=${mood} x="2" y=${Math.min(CHART.height - 4, y(mood) + 11)}>${mood}</text>`)}
    <line x1="0" x2=${CHART.width} y1=${y(0)} y2=${y(0)} />
    <polyline points=${points.map((week) => `${week.x},${y(week.meanValence)}`).join(" ")} />
    ${points.map((week) => html`<circle key=${week.week} class=${week.threats ? "worry" : ""} cx=${week.x} cy=${y(week.meanValence)} r="4" />`)}
  </svg>`;
}

const Weeks = ({ weeks }) => html`<div class="scroll" role="region" tabindex="0" aria-label=${say("weeks")}>
  <table>
    <thead><tr>${["week", "messages", "mood", "worries"].map((name) => html`<th scope="col" key=${name}>${say(name)}</th>`)}</tr></thead>
    <tbody>${weeks.map((week) => html`<tr key=${week.week}>
      <th scope="row">${shortDay(week.week)}</th><td>${week.turns}</td><td>${week.meanValence?.toFixed(2) ?? "–"}</td><td>${week.threats}</td>
    </tr>`)}</tbody>
  </table>
</div>`;

const Concern = ({ concern }) => html`<li class=${concern.correctedAt ? "quiet" : ""}>
  <strong>${say(concern.kind)}</strong>, ${say(`urgency_${concern.urgency}`)}, ${say(`about_${concern.about}`)},
  ${" "}${moment(concern.at)} ${concern.correctedAt && `(${say("taken_back")})`}
</li>`;

function Integrity({ access, id, tell }) {
  const [found, setFound] = useState(null);
  const check = async () => setFound((await tell(() => ask({ ...access, student: id }, INTEGRITY))).verifyIntegrity);
  const counts = found && { altered: found.altered.length, removed: found.removed.length, added: found.added.length };
  return html`<p><button onClick=${check}>${say("check")}</button></p>
    <p role="status">${found && say(found.intact ? "intact" : "not_intact", counts)}</p>`;
}

function Student({ access, student, wellbeing, tell }) {
  const weeks = wellbeing.weeks.filter((_, n, all) => all.slice(0, n + 1).some((week) => week.turns > 0));
  const card = useRef(null);
  useEffect(() => { card.current.scrollIntoView({ block: "start" }); }, []);
  return html`<section class="card" ref=${card} aria-label=${student.id}>
    <h2>${student.id}</h2>
    <p>${say("counts", { memories: student.memoryCount, waiting: student.waitingJobs })}</p>
    ${wellbeing.concerns.length > 0 && html`<h3>${say("worries")}</h3>
      <ul class="plain">${wellbeing.concerns.map((each) => html`<${Concern} key=${each.id} concern=${each} />`)}</ul>`}
    ${weeks.length === 0 ? html`<p>${say("no_weeks")}</p>` : html`<h3>${say("weeks")}</h3><${Chart} weeks=${weeks} /><${Weeks} weeks=${weeks} />`}
    <${Integrity} access=${access} id=${student.id} tell=${tell} />
  </section>`;
}

export function Auditor({ access, tell }) {
  const [shown, setShown] = useState({ students: null, next: null });
  const [chosen, setChosen] = useState(null);
  const list = (after = null) => tell(async () => {
    const page = await ask(access, STUDENTS, { after });
    const wellbeing = await askEach(access, WELLBEING, page.items.map(({ id }) => id));
    const students = page.items.map((student, n) => ({ student, wellbeing: wellbeing[n] }));
    setShown({ students: [...(after ? shown.students : []), ...students], next: page.next });
  });
  useEffect(() => { list(); }, []);
  if (shown.students === null) return html`<p>${say("wait")}</p>`;
  const flagged = shown.students.filter((each) => each.wellbeing.flag).length;
  const rows = [...shown.students].sort((a, b) => b.wellbeing.flag - a.wellbeing.flag);
  const open = rows.find((each) => each.student.id === chosen);
  return html`<p class="card">${say("flagged", { flagged, students: shown.students.length })}</p>
    ${open && html`<${Student} key=${chosen} access=${access} tell=${tell} ...${open} />`}
    <div class="scroll" role="region" tabindex="0" aria-label=${say("students")}>
      <table>
        <thead><tr>${["who", "look", "memories", "worries"].map((name) => html`<th scope="col" key=${name}>${say(name)}</th>`)}</tr></thead>
        <tbody>${rows.map(({ student, wellbeing }) => html`<tr key=${student.id}>
          <th scope="row"><button aria-pressed=${student.id === chosen} onClick=${() => setChosen(student.id)}>${student.id}</button></th>
          <td>${wellbeing.flag ? html`<strong class="flag">${say("look_now")}</strong>` : "–"}</td>
          <td>${student.memoryCount}</td><td>${wellbeing.openThreats}</td>
        </tr>`)}</tbody>
      </table>
    </div>
    ${shown.next && html`<button onClick=${() => list(shown.next)}>${say("more")}</button>`}`;
}
