// Reads events from bytes as they come.

export class Stream {
  #decoder = new TextDecoder();
  #rest = "";
  #event = { id: "", event: "", data: "" };

  /** The events that are whole now. Only line feeds part lines: text may hold anything else. */
  feed(chunk) {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop();
    const out = [];
    for (const raw of lines) {
      const line = raw.replace(/\r$/, "");
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      if (Object.hasOwn(this.#event, name)) {
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        this.#event[name] = name === "data" ? this.#event.data + value : value;
      } else if (line === "") {
        if (this.#event.event) out.push(this.#event);
        this.#event = { id: "", event: "", data: "" };
      }
    }
    return out;
  }
}
