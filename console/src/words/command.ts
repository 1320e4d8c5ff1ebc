// Commands that people paste into a shell: every word stays one word there.

/** word quotes what a shell would take apart or act on. */
export const word = (s: string): string => (/^[A-Za-z0-9_./:@%+=,-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`);

export const commandLine = (words: readonly string[]): string => words.map(word).join(" ");

/** cd there, then the command. */
export const inDir = (dir: string, words: readonly string[]): string => `cd ${word(dir)}${words.length > 0 ? ` && ${commandLine(words)}` : ""}`;
