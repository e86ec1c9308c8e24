import type { ErrorCode } from "./generated.js";

/** What the API refused, or that it does not answer (`UNAVAILABLE`); the message says what to do. */
export class GraphmemError extends Error {
  override name = "GraphmemError";

  constructor(
    message: string,
    readonly code: ErrorCode,
    /** Seconds after which to try again, where the API said so. */
    readonly retryAfter?: number,
    /** Times the request was sent; above 1 an earlier try may have taken effect. */
    public tries = 1,
  ) {
    super(message);
  }

  /** Return the error that one of an answer stands for. */
  static of(error: { message: string; extensions?: { code?: ErrorCode; retryAfter?: number } }): GraphmemError {
    return new GraphmemError(error.message, error.extensions?.code ?? "INTERNAL", error.extensions?.retryAfter);
  }
}
