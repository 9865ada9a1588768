/** What one client plays: a format, and everything that depends on it. */
import { Encoder } from "../encoder/encoder.js";
import { playableFormat } from "../simulator/package.js";
import { TeamSource } from "../simulator/teams.js";
import { Searches } from "./searches.js";
import { TrackedBattles } from "./tracked_battles.js";

/** The client's format, fixed by its hello, with everything that depends on it. */
export class Table {
  /** @param {string} formatId @throws {import("../simulator/package.js").UnknownFormat} */
  constructor(formatId) {
    this.format = playableFormat(formatId);
    this.encoder = Encoder.forFormat(this.format.id);
    this.teams = new TeamSource(this.format);
    this.tracked = new TrackedBattles(this.encoder);
    this.searches = new Searches(this.format, this.encoder, this.tracked);
  }
}
