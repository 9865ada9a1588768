/** The page's side of the engine's worker. */

/** @param {string} id of an element with gzipped bytes in base 64 @returns {Promise<ArrayBuffer>} */
export async function unpacked(id) {
  const text = /** @type {HTMLElement} */ (document.getElementById(id)).textContent ?? "";
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

export class Engine {
  /** @param {ArrayBuffer} script */
  constructor(script) {
    this.worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    this.numCalls = 0;
    /** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void, progress?: (progress: any) => void}>} */
    this.waiting = new Map();
    this.worker.onmessage = ({ data }) => this.#receive(data);
    this.worker.onerror = (event) => this.#fail(new Error(event.message || "the engine stopped"));
  }

  /** @param {string} method @param {any} [options] @param {(progress: any) => void} [progress] @returns {Promise<any>} */
  call(method, options = {}, progress) {
    const id = this.numCalls++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, progress });
      this.worker.postMessage({ id, method, options });
    });
  }

  /** @param {{id: number, result?: any, error?: string, progress?: any}} answer */
  #receive({ id, result, error, progress }) {
    const call = this.waiting.get(id);
    if (!call) return;
    if (progress) return call.progress?.(progress);
    this.waiting.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(error));
  }

  /** @param {Error} error */
  #fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
