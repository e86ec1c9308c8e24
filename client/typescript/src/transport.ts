import { GraphmemError } from "./errors.js";

const FIRST_MILLISECONDS = 250;
const LONGEST_MILLISECONDS = 8_000;
/** Operations after which a student's session is gone. */
const ENDING = /^mutation (CloseSession|RotateKey|EraseStudent)\(/;

export interface Options {
  /** Milliseconds of one try, 120,000 by default; those of a stream are not limited. */
  timeout?: number;
  /** Milliseconds from the first failure after which nothing is sent again, 60,000 by default; 0: never. */
  patience?: number;
  /** What sends the requests, `fetch` by default. */
  fetch?: typeof fetch;
}

type Variables = Record<string, unknown>;
// What an answer holds is typed by the operation that asked for it.
type Json = any;

/**
 * Requests to one server with one bearer token.
 *
 * The token of each session that `openSession` opens is kept, and sent with what is about its student. A request that is
 * answered by UNAVAILABLE, or not at all, is sent again (a stream: until its first event).
 */
export class Transport {
  /** Session tokens by student id. */
  readonly sessions = new Map<string, string>();
  private readonly endpoint: string;
  private readonly options: Required<Options>;
  /** What this client wrote last, so that any member of a cluster shows it at once. */
  private bookmark = "";

  constructor(address: string, private readonly token: string, options: Options = {}) {
    this.endpoint = address.replace(/\/+$/, "") + "/graphql";
    this.options = { timeout: 120_000, patience: 60_000, fetch: (...given) => fetch(...given), ...options };
  }

  /** Return the value of the one field of a document of your own. */
  async execute(query: string, studentId: string | null = null, variables: Variables = {}): Promise<Json> {
    const answer = await this.patiently(async () => (await this.sent(query, studentId, variables, "json")).json());
    return valueOf(answer);
  }

  protected async asked(query: string, studentId: string | null | undefined, variables: Variables, within?: string): Promise<Json> {
    let value = await this.execute(query, studentId ?? null, variables);
    if (within) {
      if (value === null) throw new GraphmemError("There is no such student.", "NOT_FOUND");
      value = value[within];
    }
    if (studentId != null && query.startsWith("mutation OpenSession(")) this.sessions.set(studentId, value.token);
    if (studentId != null && ENDING.test(query)) this.sessions.delete(studentId);
    return value;
  }

  protected async *streamed(query: string, studentId: string, variables: Variables): AsyncGenerator<Json> {
    const begun = await this.patiently(async () => {
      const events = read((await this.sent(query, studentId, variables, "stream")).body);
      return { events, first: await events.next() };
    });
    try {
      for (let each = begun.first; !each.done; each = await begun.events.next()) yield each.value;
    } finally {
      await begun.events.return(undefined);
    }
  }

  private async sent(query: string, studentId: string | null, variables: Variables, kind: "json" | "stream") {
    const opened = studentId != null && this.sessions.has(studentId);
    const given = Object.entries(query.includes("$opened") ? { ...variables, opened } : variables);
    const headers: Record<string, string> = {
      Accept: kind === "stream" ? "text/event-stream" : "application/json",
      Authorization: `Bearer ${this.token}`,
      "Content-Type": "application/json",
    };
    if (opened) headers["X-Graphmem-Session"] = this.sessions.get(studentId) ?? "";
    if (this.bookmark) headers["X-Graphmem-Bookmark"] = this.bookmark;
    const response = await this.options.fetch(this.endpoint, {
      method: "POST",
      headers,
      body: JSON.stringify({ query, variables: Object.fromEntries(given.filter(([, value]) => value != null)) }),
      ...(kind === "json" ? { signal: AbortSignal.timeout(this.options.timeout) } : {}),
    });
    this.bookmark = response.headers.get("X-Graphmem-Bookmark") ?? this.bookmark;
    return response;
  }

  /** Do what may be unavailable, again and again with growing waits while patience lasts. */
  private async patiently<T>(work: () => Promise<T>): Promise<T> {
    let deadline = 0;
    for (let tries = 1; ; tries++) {
      try {
        const found = await work();
        const refused = refusalOf(found);
        if (refused) throw refused;
        return found;
      } catch (thrown) {
        const error =
          thrown instanceof GraphmemError
            ? thrown
            : new GraphmemError(`The API at ${this.endpoint} does not answer.`, "UNAVAILABLE");
        error.tries = tries;
        deadline ||= Date.now() + this.options.patience;
        const wait = Math.min(FIRST_MILLISECONDS * 2 ** (tries - 1), LONGEST_MILLISECONDS);
        if (error.code !== "UNAVAILABLE" || Date.now() + wait > deadline) throw error;
        await new Promise((done) => setTimeout(done, wait * (0.5 + Math.random() / 2)));
      }
    }
  }
}

function refusalOf(answer: Json): GraphmemError | undefined {
  return answer?.errors?.length ? GraphmemError.of(answer.errors[0]) : undefined;
}

function valueOf(answer: Json): Json {
  const refused = refusalOf(answer);
  if (refused) throw refused;
  return Object.values(answer.data)[0];
}

/** Yield the values of a stream of server-sent events. */
async function* read(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Json, void, undefined> {
  const reader = (body ?? new ReadableStream()).getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      text += decoder.decode(value, { stream: !done });
      const events = text.split(/\r?\n\r?\n/);
      text = events.pop() ?? "";
      for (const event of events) {
        if (/^event: complete\s*$/m.test(event)) return;
        const data = /^data: (.+)$/m.exec(event)?.[1];
        if (data) yield valueOf(JSON.parse(data));
      }
      // What is no stream of events is one answer: a refusal.
      if (done) {
        if (text.trim().startsWith("{")) yield valueOf(JSON.parse(text));
        throw new GraphmemError("The API has ended the stream.", "UNAVAILABLE");
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
