// What an auditor sees: flags and trends of wellbeing, counts and integrity, and nothing that anybody said.
import { FLAG, INTEGRITY, STUDENTS, WELLBEING, ask, askEach } from "./api.js";
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

function Student({ access, student, tell }) {
  const card = useRef(null);
  const [wellbeing, setWellbeing] = useState(null);
  useEffect(() => { tell(() => ask({ ...access, student: student.id }, WELLBEING)).then(setWellbeing); }, []);
  useEffect(() => { card.current.scrollIntoView({ block: "start" }); }, [wellbeing]);
  return html`<section class="card" ref=${card} aria-label=${student.id}>
    <h2>${student.id}</h2>
    <p>${say("counts", { memories: student.memoryCount, waiting: student.waitingJobs })}</p>
    ${wellbeing ? html`<${Wellbeing} ...${wellbeing} />` : html`<p>${say("wait")}</p>`}
    <${Integrity} access=${access} id=${student.id} tell=${tell} />
  </section>`;
}

function Wellbeing({ weeks, concerns }) {
  const since = weeks.findIndex((week) => week.turns > 0);
  const shown = since < 0 ? [] : weeks.slice(since);
  return html`${concerns.length > 0 && html`<h3>${say("worries")}</h3>
      <ul class="plain">${concerns.map((each) => html`<${Concern} key=${each.id} concern=${each} />`)}</ul>`}
    ${shown.length === 0 ? html`<p>${say("no_weeks")}</p>` : html`<h3>${say("weeks")}</h3>
      <${Chart} weeks=${shown} /><${Weeks} weeks=${shown} />`}`;
}

export function Auditor({ access, tell }) {
  const [students, setStudents] = useState([]);
  const [all, setAll] = useState(false);
  const [chosen, setChosen] = useState(null);
  // Every page, as nobody may be overlooked for being on a later one.
  const list = async () => {
    let found = [];
    let next = null;
    do {
      const page = await ask(access, STUDENTS, { after: next });
      const flags = await askEach(access, FLAG, page.items.map(({ id }) => id));
      found = [...found, ...page.items.map((student, n) => ({ ...student, ...flags[n] }))];
      next = page.next;
      setStudents(found);
    } while (next);
    setAll(true);
  };
  useEffect(() => { tell(list); }, []);
  const rows = [...students].sort((a, b) => b.flag - a.flag);
  const flagged = rows.filter(({ flag }) => flag).length;
  const open = rows.find(({ id }) => id === chosen);
  return html`<p class="card">${say("flagged", { flagged, students: rows.length })} ${!all && say("wait")}</p>
    ${open && html`<${Student} key=${chosen} access=${access} tell=${tell} student=${open} />`}
    <div class="scroll" role="region" tabindex="0" aria-label=${say("students")}>
      <table>
        <thead><tr>${["who", "look", "memories", "worries"].map((name) => html`<th scope="col" key=${name}>${say(name)}</th>`)}</tr></thead>
        <tbody>${rows.map(({ id, flag, memoryCount, openThreats }) => html`<tr key=${id}>
          <th scope="row"><button aria-pressed=${id === chosen} onClick=${() => setChosen(id)}>${id}</button></th>
          <td>${flag ? html`<strong class="flag">${say("look_now")}</strong>` : "–"}</td>
          <td>${memoryCount}</td><td>${openThreats}</td>
        </tr>`)}</tbody>
      </table>
    </div>`;
}
