import { Operations, type Context, type Recalled, type Turn } from "./generated.js";
import type { Options } from "./transport.js";

/** Client of the API: one method for each operation, with the API's names. */
export class Client extends Operations {}

/** One student's memory while a session is open. */
export class StudentMemory {
  constructor(readonly client: Client, readonly studentId: string) {}

  /** Remember a message of the student; without `reply` graphmem replies. The same `turnId` again counts once. */
  add(text: string, given: { reply?: string; turnId?: string; at?: string } = {}): Promise<Turn> {
    // `crypto` is no global of Node 18, nor of pages without TLS.
    const turnId = given.turnId ?? `turn-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    return this.client.handleTurn({ studentId: this.studentId, text, ...given, turnId });
  }

  /** Return what is remembered that fits a question; `messages` is what your model is given, in OpenAI's form. */
  async context(question: string, given: { tokenBudget?: number; history?: number } = {}): Promise<Context> {
    const asked = { studentId: this.studentId, query: question, history: 6, ...given };
    const found = await this.client.context(asked);
    return { ...found, messages: [...found.messages, { role: "user", content: question }] };
  }

  /** Return the memories that fit a query, best first, each with its weight and why it fits. */
  search(query: string, given: { limit?: number } = {}): Promise<Recalled[]> {
    return this.client.recall({ studentId: this.studentId, query, limit: 10, ...given });
  }

  /** End the session: what was said is formed and consolidated. */
  close(): Promise<boolean> {
    return this.client.closeSession({ studentId: this.studentId });
  }
}

/** Open the memory of an enrolled student: LOCKED where the password is wrong. */
export async function openMemory(
  address: string,
  token: string,
  studentId: string,
  password: string,
  options: Options = {},
): Promise<StudentMemory> {
  const client = new Client(address, token, options);
  await client.openSession({ studentId, password });
  return new StudentMemory(client, studentId);
}
