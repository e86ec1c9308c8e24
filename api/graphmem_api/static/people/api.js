// What the page asks of the API, and how it asks.
import { knows, say } from "./words.js";

const MEMORY = "id content quote domain timestamp validAt invalidAt reliability role sources { kind at }";
export const OPEN = "mutation($id: ID!, $password: String!) { openSession(studentId: $id, password: $password) { token } }";
export const CLOSE = "mutation($id: ID!) { closeSession(studentId: $id) }";
export const LIST = `query($id: ID!, $after: String) { student(id: $id) { memories(first: 100, after: $after) { items { ${MEMORY} } next } } }`;
export const SEARCH = `query($id: ID!, $query: String!) { student(id: $id) { recall(query: $query, limit: 20) { memory { ${MEMORY} } } } }`;
export const GRAPH = `query($id: ID!) { student(id: $id) { memories(first: 100) { items { ${MEMORY} entities { id kind name } edges { fromId toId } } next } } }`;
export const UNSURE = `query($id: ID!) { student(id: $id) { uncertainties { id state resolution a { ${MEMORY} } b { ${MEMORY} } } } }`;
export const LEDGER = "query($id: ID!) { student(id: $id) { ledger(active: true) { id category content createdAt } } }";
export const CORRECT = "mutation($id: ID!, $memory: ID!, $content: String!) { correctMemory(studentId: $id, id: $memory, content: $content) { id } }";
export const FORGET = "mutation($id: ID!, $memory: ID!) { forget(studentId: $id, memoryId: $memory) { memories } }";
export const SETTLE = "mutation($id: ID!, $doubt: ID!, $winner: ID!) { resolveUncertainty(studentId: $id, id: $doubt, resolution: USER_CLARIFIED, winnerId: $winner) { id } }";
export const UNDO = "mutation($id: ID!, $doubt: ID!) { undoResolution(studentId: $id, id: $doubt) { id } }";
export const DONE = "mutation($id: ID!, $entry: ID!) { settleLedgerEntry(studentId: $id, id: $entry) { id } }";
export const DROP = "mutation($id: ID!, $entry: ID!) { deleteLedgerEntry(studentId: $id, id: $entry) }";
export const EXPORT = "mutation($id: ID!) { exportStudent(studentId: $id) }";
export const ERASE = "mutation($id: ID!) { eraseStudent(studentId: $id) { memories } }";
export const STUDENTS = "query($after: String) { students(first: 100, after: $after) { items { id createdAt memoryCount waitingJobs } next } }";
export const WELLBEING =
  "query($id: ID!) { wellbeing(studentId: $id) { weeks { week turns meanValence threats } concerns { id kind urgency about at correctedAt } } }";
export const INTEGRITY = "query($id: ID!) { student(id: $id) { verifyIntegrity { intact altered removed added } } }";
// Of many students at once, see `askEach`.
export const PROGRESS = "student(id: $id) { id progress { concept { id name domain } familiarity trend lastPractised fadesAt } }";
export const FLAG = "wellbeing(studentId: $id) { flag openThreats }";
const STUDENTS_AT_ONCE = 20;

const refused = (code, message) => Object.assign(new Error(knows(code) ? say(code) : message), { code });

/** Send a document; a refusal is an error with a code and a sentence. */
async function send({ code, session }, query, variables) {
  const headers = { "Content-Type": "application/json" };
  if (code) headers.Authorization = `Bearer ${code}`;
  if (session) headers["X-Graphmem-Session"] = session;
  let answer;
  try {
    answer = await (await fetch("graphql", { method: "POST", headers, body: JSON.stringify({ query, variables }) })).json();
  } catch {
    throw refused("UNAVAILABLE");
  }
  if (answer.errors) throw refused(answer.errors[0].extensions?.code, answer.errors[0].message);
  return answer.data;
}

/** Ask for one field of the student of an access, or of nobody; a student who is not there any more is locked. */
export async function ask(access, query, variables = {}) {
  const [value] = Object.values(await send(access, query, { id: access.student, ...variables }));
  if (value === null) throw refused("LOCKED");
  return value;
}

/** Ask for the same field of many students, some in a request; null of one who is not there. */
export async function askEach(access, field, ids) {
  const found = [];
  for (let i = 0; i < ids.length; i += STUDENTS_AT_ONCE) {
    const some = ids.slice(i, i + STUDENTS_AT_ONCE);
    const names = some.map((_, n) => `$s${n}: ID!`).join(" ");
    const fields = some.map((_, n) => `s${n}: ${field.replace("$id", `$s${n}`)}`).join(" ");
    const variables = Object.fromEntries(some.map((id, n) => [`s${n}`, id]));
    found.push(...Object.values(await send(access, `query(${names}) { ${fields} }`, variables)));
  }
  return found;
}

/** What a bearer token says of itself; the server alone decides what it opens. */
export function claims(token) {
  try {
    const body = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(body), (each) => each.charCodeAt(0))));
  } catch {
    return {};
  }
}
