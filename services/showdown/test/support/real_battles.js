/** Real doubles of people: the decisions that a spectator's log shows, with requests made from it and from the teams. */
import { DexInfo } from "../../src/simulator/dex.js";
import { Dex, toID } from "../../src/simulator/package.js";
import { Tracker } from "../../src/tracker/tracker.js";

const FORMAT = "gen9vgc2023regc";
const CHOOSABLE = new Set(["normal", "any", "adjacentAlly", "adjacentAllyOrSelf", "adjacentFoe"]);

/**
 * @typedef {object} Real a battle: both teams, the log with exact HP, and both players' choices in order
 * @property {any[][]} teams
 * @property {string[]} log
 * @property {string[]} choices
 *
 * @typedef {object} Decision
 * @property {Tracker} tracker that has read the made request
 * @property {string} chosen as the player sent it
 * @property {any} request
 * @property {string[]} after the lines up to the next turn
 */

/** One player: the order of the team in requests, and the choices that are left. */
class Player {
  /** @param {number} seat @param {any[]} team @param {string[]} choices */
  constructor(seat, team, choices) {
    this.seat = seat;
    this.team = team;
    this.choices = choices;
    this.order = team.map((_, i) => i);
    this.tracker = new Tracker(DexInfo.forFormat(FORMAT), seat);
    /** Slots that the open choice switches. @type {Set<number>} */
    this.switching = new Set();
  }

  /** @param {string} name @returns {number} index in the team */
  index(name) {
    return this.team.findIndex((set) => set.name === name);
  }

  /** @param {any} extra @param {string} chosen @returns {any} a request with this side */
  request(extra, chosen) {
    const pokemon = this.order.map((index, place) => {
      const set = this.team[index];
      const known = this.tracker.own.pokemon.find(({ name }) => name === set.name);
      return {
        ident: `p${this.seat + 1}: ${set.name}`, details: `${set.species}, L${set.level}`, condition: known?.fainted ? "0 fnt" : "100/100",
        active: place < 2, reviving: extra.revives === place, stats: { atk: 1, def: 1, spa: 1, spd: 1, spe: 1 }, moves: set.moves.map(toID), item: toID(set.item ?? ""),
        baseAbility: toID(set.ability), ability: toID(set.ability), teraType: set.teraType, terastallized: "",
      };
    });
    if (!extra.moves) return { ...extra, side: { pokemon } };
    const parts = chosen.split(", ");
    const active = this.order.slice(0, 2).map((index, position) => {
      // A log does not show what the request offers a Pokémon that has no choice.
      if (parts[position].startsWith("move struggle")) return { moves: [{ move: "Struggle", id: "struggle", target: "randomNormal" }] };
      const moves = this.team[index].moves.map((/** @type {string} */ name) => {
        const move = Dex.forFormat(FORMAT).moves.get(name);
        return { move: move.name, id: move.id, pp: 8, maxpp: 8, target: move.target, disabled: false };
      });
      return { moves, ...(this.tracker.own.usedTera ? {} : { canTerastallize: this.team[index].teraType }) };
    });
    return { active, side: { pokemon } };
  }
}

/** @param {Real} real @param {(decision: Decision) => void} visit */
export function replay(real, visit) {
  const players = [0, 1].map((seat) => new Player(seat, real.teams[seat], real.choices.filter((line) => line.startsWith(`>p${seat + 1} `)).map((line) => line.slice(4))));
  /** @param {Player} player @param {any} extra @param {number} at */
  const decide = (player, extra, at) => {
    const chosen = player.choices.shift();
    if (chosen === undefined) return "";
    const request = player.request(extra, chosen);
    player.tracker.readRequest(request);
    const next = real.log.findIndex((line, i) => i > at && (line.startsWith("|turn|") || line.startsWith("|win|")));
    visit({ tracker: player.tracker, chosen, request, after: real.log.slice(at + 1, next < 0 ? undefined : next) });
    return chosen;
  };
  for (const [at, line] of real.log.entries()) {
    const parts = line.split("|");
    if (parts[1] === "switch" && real.log.slice(0, at).some((other) => other.startsWith("|turn|"))) {
      const player = players[Number(parts[2][1]) - 1];
      const slot = parts[2][2] === "a" ? 0 : 1;
      if (!player.switching.delete(slot)) {
        // A forced switch: the slots that must switch are those that the choice fills.
        const chosen = (player.choices[0] ?? "").split(", ");
        decide(player, { forceSwitch: chosen.map((part) => part.startsWith("switch")) }, at);
        for (const [other, part] of chosen.entries()) if (part.startsWith("switch") && other !== slot) player.switching.add(other);
      }
    }
    for (const player of players) player.tracker.readLine(line);
    if (parts[1] === "switch" || parts[1] === "drag") {
      const player = players[Number(parts[2][1]) - 1];
      const slot = parts[2][2] === "a" ? 0 : 1;
      const place = player.order.indexOf(player.index(parts[2].slice(5)));
      if (place >= 0) [player.order[slot], player.order[place]] = [player.order[place], player.order[slot]];
    } else if (parts[1] === "move" && parts[3] === "Revival Blessing") {
      const slot = parts[2][2] === "a" ? 0 : 1;
      decide(players[Number(parts[2][1]) - 1], { forceSwitch: [slot === 0, slot === 1], revives: slot }, at);
    } else if (parts[1] === "swap") {
      players[Number(parts[2][1]) - 1].order.splice(0, 2, ...players[Number(parts[2][1]) - 1].order.slice(0, 2).reverse());
    } else if (parts[1] === "teampreview") {
      for (const player of players) {
        const picked = decide(player, { teamPreview: true, maxChosenTeamSize: 4 }, at).slice(5).split(", ").map((text) => Number(text) - 1);
        player.order = picked;
      }
    } else if (parts[1] === "turn") {
      for (const player of players) {
        const chosen = decide(player, { moves: true }, at).split(", ");
        player.switching = new Set([0, 1].filter((slot) => chosen[slot]?.startsWith("switch")));
      }
    }
  }
}

/**
 * @param {string} chosen such as "move protect, move extremespeed +2 terastallize"
 * @param {any} request
 * @returns {string} the same with places and targets as the simulator's own clients number them
 */
export function numbered(chosen, request) {
  return chosen.split(", ").map((part, position) => {
    const [kind, name, ...words] = part.split(" ");
    if (kind !== "move") return part;
    const place = request.active[position].moves.findIndex((/** @type {any} */ { id }) => id === name) + 1;
    const target = words.find((word) => /^[+-]\d$/.test(word));
    const gimmick = words.find((word) => /^[a-z]/.test(word));
    return `move ${place}${gimmick ? ` ${gimmick}` : ""}${target ? ` ${Number(target)}` : ""}`;
  }).join(", ");
}

/**
 * What the log shows of one slot's choice in a turn.
 * @param {Decision} decision
 * @param {number} position
 * @returns {string | null} null if the log does not show it
 */
export function recovered({ tracker, request, after }, position) {
  const me = `p${tracker.seat + 1}${"ab"[position]}`;
  let gimmick = "";
  for (const line of after) {
    const parts = line.split("|");
    if (!parts[2]?.startsWith(`${me}:`)) continue;
    if (parts[1] === "-terastallize") gimmick = " terastallize";
    else if (parts[1] === "switch" && !line.includes("[from]")) {
      return `switch ${request.side.pokemon.findIndex((/** @type {any} */ { ident }) => ident.slice(4) === parts[2].slice(5)) + 1}`;
    } else if (["faint", "cant", "drag", "switch"].includes(parts[1])) return null;
    else if (parts[1] === "move" && !/\[from\]/.test(line)) {
      const { moves } = request.active[position];
      const place = moves.findIndex((/** @type {any} */ { id }) => id === toID(parts[3]));
      if (place < 0) return null;
      if (!CHOOSABLE.has(moves[place].target)) return `move ${place + 1}${gimmick}`;
      const aim = parts[4];
      // Without a slot the target had fainted or left.
      if (!/^p[12][ab]:/.test(aim)) return null;
      const location = "ab".indexOf(aim[2]) + 1;
      return `move ${place + 1}${gimmick} ${aim[1] === me[1] ? -location : location}`;
    }
  }
  return null;
}
