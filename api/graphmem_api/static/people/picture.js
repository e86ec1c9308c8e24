// A picture of the graph: memories as dots in the colour of their theme, and the people, places and things they speak of.
import { GRAPH } from "./api.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./htm-preact.js";
import { Memory, single } from "./memory.js";
import { say } from "./words.js";

const { d3 } = globalThis; // a plain script of the page, see index.html
const STEPS = 400; // of the layout, until it rests
const LABEL_LETTERS = 26;
const LETTER_WIDTH = 7.2;
const LABEL_HEIGHT = 17;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const themesOf = (nodes) => [...new Set(nodes.map((node) => node.memory?.domain).filter(Boolean))];

/** What memories speak of, by name: persons and places, and such things as two or more of them speak of. */
function spokenOf(memories) {
  const found = new Map();
  for (const memory of memories) {
    for (const { kind, name } of memory.entities.filter((each) => each.name)) {
      const id = `entity ${name.toLowerCase()}`;
      if (!found.has(id)) found.set(id, { id, entity: { kind }, words: name, about: [] });
      const node = found.get(id);
      if (!node.about.includes(memory)) node.about.push(memory);
      // The same name may be noted as a thing as well.
      if (kind !== "THING") node.entity.kind = kind;
    }
  }
  const isThing = (node) => node.entity.kind === "THING";
  const names = new Set([...found.values()].filter((node) => !isThing(node)).map((node) => node.words.toLowerCase()));
  // "Friend Mia" is Mia.
  const repeats = (node) => node.words.toLowerCase().split(" ").some((word) => names.has(word));
  return [...found.values()].filter((node) => !isThing(node) || (node.about.length > 1 && !repeats(node)));
}

/** Nodes and links of some memories: the memories, what they speak of, and what leads from one to another. */
function graphOf(memories) {
  const ids = new Set(memories.map(({ id }) => id));
  const entities = spokenOf(memories);
  const edges = memories.flatMap((memory) => memory.edges).filter(({ fromId, toId }) => ids.has(fromId) && ids.has(toId));
  return {
    nodes: [...memories.map((memory) => ({ id: memory.id, memory, words: memory.content })), ...entities],
    links: [
      ...entities.flatMap((node) => node.about.map(({ id }) => ({ source: id, target: node.id }))),
      ...new Map(edges.map(({ fromId, toId }) => [[fromId, toId].sort().join(" "), { source: fromId, target: toId }])).values(),
    ],
  };
}

/** The layout at rest, in which memories of one theme lie together; wide or high as the place for it. */
function simulated({ nodes, links }) {
  const high = innerHeight > innerWidth ? 1.3 : 0.7;
  const themes = themesOf(nodes);
  const place = (node) => {
    if (!node.memory || themes.length < 2) return [0, 0];
    const angle = (2 * Math.PI * themes.indexOf(node.memory.domain)) / themes.length;
    return [(180 / high) * Math.cos(angle), 180 * high * Math.sin(angle)];
  };
  return d3.forceSimulation(nodes)
    .force("link", d3.forceLink(links).id((node) => node.id).distance(60))
    .force("charge", d3.forceManyBody().strength(-160))
    .force("x", d3.forceX((node) => place(node)[0]).strength(0.1 * high))
    .force("y", d3.forceY((node) => place(node)[1]).strength(0.1 / high))
    .force("collide", d3.forceCollide(34))
    .stop()
    .tick(STEPS);
}

const extent = (values) => [Math.min(...values), Math.max(...values)];

/** The transform that shows all nodes in a box. */
function whole(nodes, { width, height }) {
  const [left, right] = extent(nodes.map((node) => node.x));
  const [top, bottom] = extent(nodes.map((node) => node.y));
  const scale = Math.min(2, (width - 90) / (right - left || 1), (height - 90) / (bottom - top || 1));
  return d3.zoomIdentity.translate(width / 2, height / 2).scale(scale).translate(-(left + right) / 2, -(top + bottom) / 2);
}

/** The first words of a text, as many as a label has room for. */
function short(text) {
  if (text.length <= LABEL_LETTERS) return text;
  const words = text.slice(0, LABEL_LETTERS).split(" ").slice(0, -1).join(" ");
  return `${words || text.slice(0, LABEL_LETTERS)} …`;
}

/** How far the labels that have room are moved aside, by the ids of their nodes.
 *
 * Room is for the chosen one first, then for those beside it, for what is spoken of, for memories.
 */
function labelled(points, chosen, near, width) {
  const rank = ({ node }) => (node.id === chosen ? 0 : near.has(node.id) ? 1 : node.entity ? 2 : 3);
  const placed = [];
  const boxes = points.map(({ x, y }) => ({ left: x - 9, right: x + 9, top: y - 9, bottom: y + 9 }));
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const moves = new Map();
  for (const point of [...points].sort((a, b) => rank(a) - rank(b))) {
    const half = (short(point.node.words).length * LETTER_WIDTH) / 2;
    const x = Math.max(half, Math.min(width - half, point.x));
    const box = { left: x - half, right: x + half, top: point.y + 12, bottom: point.y + 12 + LABEL_HEIGHT };
    // A name may lie upon dots, as where there are many of them nobody would be named; words of a memory may not.
    const others = rank(point) < 3 ? placed : [...placed, ...boxes];
    if (rank(point) > 0 && others.some((other) => meets(box, other))) continue;
    placed.push(box);
    moves.set(point.node.id, x - point.x);
  }
  return moves;
}

/** The nearest node in the direction of an arrow key. */
function neighbour(points, from, [dx, dy]) {
  const along = ({ x, y }) => (x - from.x) * dx + (y - from.y) * dy;
  const aside = ({ x, y }) => Math.abs((x - from.x) * dy) + Math.abs((y - from.y) * dx);
  const distance = (point) => along(point) + 2 * aside(point);
  return points.filter((point) => along(point) > 1).sort((a, b) => distance(a) - distance(b))[0];
}

function Drawing({ graph, chosen, choose }) {
  const svg = useRef(null);
  const zoom = useRef(null);
  const [transform, setTransform] = useState(d3.zoomIdentity);
  const [current, setCurrent] = useState(graph.nodes[0].id);
  const [, redraw] = useState(0);
  const fit = () => d3.select(svg.current).call(zoom.current.transform, whole(graph.nodes, svg.current.getBoundingClientRect()));
  const scale = (by) => d3.select(svg.current).call(zoom.current.scaleBy, by);

  useLayoutEffect(() => {
    const held = (event) => event.target.closest?.("[data-id]")?.dataset.id;
    zoom.current = d3.zoom().scaleExtent([0.2, 6]).on("zoom", (event) => setTransform(event.transform));
    const now = () => d3.zoomTransform(svg.current);
    const drag = d3.drag()
      .clickDistance(4)
      .subject(({ sourceEvent }) => {
        const node = graph.nodes.find(({ id }) => id === held(sourceEvent));
        return node && { x: now().applyX(node.x), y: now().applyY(node.y), node };
      })
      .on("start", () => graph.simulation.alphaTarget(0.2).restart())
      .on("drag", ({ x, y, subject }) => Object.assign(subject.node, { fx: now().invertX(x), fy: now().invertY(y) }))
      .on("end", ({ subject }) => {
        graph.simulation.alphaTarget(0);
        Object.assign(subject.node, { fx: null, fy: null });
      });
    // What holds a node drags it; all else moves the picture.
    d3.select(svg.current).call(drag).call(zoom.current).on("dblclick.zoom", null);
    graph.simulation.on("tick", () => redraw((n) => n + 1));
    fit();
    return () => graph.simulation.stop();
  }, [graph]);

  const points = graph.nodes.map((node) => ({ node, x: transform.applyX(node.x), y: transform.applyY(node.y) }));
  const at = new Map(points.map((point) => [point.node.id, point]));
  const beside = graph.links.map(({ source, target }) => [source.id, target.id]).filter((ids) => ids.includes(chosen));
  const near = new Set(beside.flat());
  const labels = labelled(points, chosen, near, svg.current?.clientWidth ?? 0);
  const onKey = (event, point) => {
    if (event.key === "Enter" || event.key === " ") choose(point.node.id);
    else if (!(event.key in ARROWS)) return;
    event.preventDefault();
    const next = event.key in ARROWS && neighbour(points, point, ARROWS[event.key])?.node.id;
    if (!next) return;
    setCurrent(next);
    svg.current.querySelector(`[data-id="${CSS.escape(next)}"]`).focus();
  };
  return html`<div class="picture">
    <svg ref=${svg} role="group" aria-label=${say("picture_about")}>
      ${graph.links.map(({ source, target }) => {
        const [from, to] = [at.get(source.id), at.get(target.id)];
        const near = [source.id, target.id].includes(chosen);
        return html`<line key=${`${source.id} ${target.id}`} class=${near ? "near" : ""} x1=${from.x} y1=${from.y} x2=${to.x} y2=${to.y} />`;
      })}
      ${points.map((point) => {
        const { id, memory, entity, words } = point.node;
        const kind = memory ? `memory theme-${memory.domain}` : "entity";
        return html`<g key=${id} data-id=${id} role="button" tabindex=${id === current ? 0 : -1} aria-pressed=${id === chosen}
          aria-label=${entity ? say(entity.kind, { name: words }) : words} transform=${`translate(${point.x},${point.y})`}
          class=${`${kind} ${id === chosen ? "chosen" : ""} ${chosen && !near.has(id) && id !== chosen ? "far" : ""}`}
          onClick=${() => { setCurrent(id); choose(id); }} onFocus=${() => setCurrent(id)} onKeyDown=${(event) => onKey(event, point)}>
          <circle class="touch" r="20" />
          ${entity ? html`<rect x="-8" y="-8" width="16" height="16" rx="4" />` : html`<circle r="8" />`}
          ${labels.has(id) && html`<text x=${labels.get(id)} y="24">${short(words)}</text>`}
        </g>`;
      })}
    </svg>
    <div class="zoom">
      <button aria-label=${say("nearer")} onClick=${() => scale(1.5)}>+</button>
      <button aria-label=${say("further")} onClick=${() => scale(1 / 1.5)}>−</button>
      <button aria-label=${say("all_of_it")} onClick=${fit}>⤢</button>
    </div>
  </div>`;
}

/** What the colours and forms mean. */
function Legend({ graph }) {
  return html`<ul class="legend">
    ${themesOf(graph.nodes).map((theme) => html`<li key=${theme}><span class=${`swatch theme-${theme}`}></span>${say(theme)}</li>`)}
    ${graph.nodes.some((node) => node.entity) && html`<li><span class="swatch square"></span>${say("spoken_of")}</li>`}
  </ul>`;
}

/** The same as a list, for whoever cannot see the picture. */
function AsList({ graph }) {
  const spoken = graph.nodes.filter((node) => node.entity);
  return html`<details class="card">
    <summary>${say("as_list")}</summary>
    <dl>${spoken.map((node) => html`<dt key=${node.id}>${say(node.entity.kind, { name: node.words })}</dt>
      ${node.about.map((memory) => html`<dd key=${memory.id}>${memory.content}</dd>`)}`)}
      <dt>${say("all_memories")}</dt>
      ${graph.nodes.filter((node) => node.memory).map((node) => html`<dd key=${node.id}>${node.words}</dd>`)}
    </dl>
  </details>`;
}

export function Picture({ load, act }) {
  const [graph, setGraph] = useState(null);
  const [chosen, setChosen] = useState(null);
  const card = useRef(null);
  const list = async () => {
    const { items, next } = (await load(GRAPH)).memories;
    const found = graphOf(items.filter(single));
    setChosen(null);
    setGraph({ ...found, more: next !== null, simulation: simulated(found) });
  };
  useEffect(() => { list(); }, []);
  useEffect(() => { if (chosen) card.current.scrollIntoView({ block: "nearest" }); }, [chosen]);
  if (graph === null) return html`<p>${say("wait")}</p>`;
  if (graph.nodes.length === 0) return html`<p class="card">${say("nothing")}</p>`;
  const node = graph.nodes.find(({ id }) => id === chosen);
  const changed = async (...request) => (await act(...request)) && list();
  return html`<p class="quiet">${say("picture_help")} ${graph.more && say("newest")}</p>
    <${Drawing} graph=${graph} chosen=${chosen} choose=${setChosen} />
    <${Legend} graph=${graph} />
    <section ref=${card} aria-live="polite">
      ${node?.memory && html`<${Memory} key=${node.id} memory=${node.memory} act=${changed} />`}
      ${node?.entity && html`<h2>${say(node.entity.kind, { name: node.words })}</h2>
        ${node.about.map((memory) => html`<${Memory} key=${memory.id} memory=${memory} act=${changed} />`)}`}
    </section>
    <${AsList} graph=${graph} />`;
}
