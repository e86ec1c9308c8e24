// The page's words, in one language at a time: each language is one file.

/** Languages by code, each called by its own name; another one is one more file and one more entry. */
export const LANGUAGES = { en: "English", de: "Deutsch" };
const FIRST = navigator.languages.map((name) => name.slice(0, 2)).find((name) => name in LANGUAGES) ?? "en";

let language = FIRST;
let texts = {};
/** The language as the browser has it, such as en-GB, for dates; where it has none, the language alone. */
const local = () => navigator.languages.find((name) => name.startsWith(language)) ?? language;

export const spoken = () => language;

/** Speak a language from now on; by default that of the browser. */
export async function speak(name = FIRST) {
  texts = await (await fetch(`people/${name}.json`)).json();
  language = name;
  document.documentElement.lang = name;
}

export const knows = (name) => name in texts;
export const say = (name, values = {}) => texts[name].replace(/{(\w+)}/g, (_, key) => values[key]);
export const day = (at) => new Date(at).toLocaleDateString(local(), { dateStyle: "long" });
export const shortDay = (at) => new Date(at).toLocaleDateString(local(), { day: "numeric", month: "short" });
export const moment = (at) => new Date(at).toLocaleString(local(), { dateStyle: "medium", timeStyle: "short" });
