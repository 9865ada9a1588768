/**
 * What each line of the protocol tells, by its type. Lines without a handler tell nothing that is tracked.
 * Reference: sim/SIM-PROTOCOL.md in the simulator's package, and the simulator's own `add` calls.
 */
import { handlers as condition } from "./tracker_lines_condition.js";
import { handlers as field } from "./tracker_lines_field.js";
import { handlers as moves } from "./tracker_lines_moves.js";
import { handlers as switching } from "./tracker_lines_switching.js";
import { handlers as volatiles } from "./tracker_lines_volatiles.js";

/** @type {ReadonlyMap<string, import("./tracker_lines_common.js").Handler>} */
export const HANDLERS = new Map([...switching, ...moves, ...condition, ...volatiles, ...field]);
