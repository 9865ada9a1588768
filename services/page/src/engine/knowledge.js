/** What a seat knows, with the game's names for what people read. */

/** @typedef {import("../../../showdown/src/tracker/tracker.js").Tracker} Tracker */

/** @param {Tracker} tracker @returns {Record<string, any>} its state; `names` and `facts` are for people */
export function knowledgeOf(tracker) {
  const { dex } = tracker.dexInfo;
  const state = /** @type {Record<string, any>} */ (tracker.state());
  const nameOf = (/** @type {string} */ id) => [dex.moves, dex.abilities, dex.items].map((entries) => entries.get(id)).find(({ exists }) => exists)?.name ?? id;
  state.names = [state.weather?.id, state.terrain?.id, ...Object.keys(state.rooms ?? {})].filter(Boolean).map(nameOf);
  for (const side of [state.own, state.opponent]) {
    side.names = Object.entries(side.conditions).map(([id, { layers }]) => (layers > 1 ? `${nameOf(id)} ×${layers}` : nameOf(id)));
    for (const mon of side.pokemon) {
      mon.names = Object.keys(mon.volatiles).map(nameOf);
      const moves = mon.moves.map((/** @type {any} */ { id }) => dex.moves.get(id).name);
      mon.facts = [dex.abilities.get(mon.ability ?? "").name, dex.items.get(mon.item ?? "").name, moves.join(", ")].filter(Boolean).join(" · ");
    }
  }
  return state;
}
