export * from "./errors.js";
export * from "./generated.js";
export * from "./memory.js";
export type { Options } from "./transport.js";
