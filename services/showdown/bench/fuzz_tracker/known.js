/** Differences that are known and accepted. One that no entry describes is a defect of the tracker, or of this comparison. */

/** @typedef {import("./compare.js").Difference} Difference */

/**
 * @typedef {object} Known
 * @property {RegExp} kind
 * @property {(difference: Difference, battle: any) => boolean} [when]
 * @property {string} reason
 */

/** @type {NonNullable<Known["when"]>} the turn waits until a fainted Pokémon is replaced */
const isReplacing = (_, battle) => battle.requestState === "switch";

/** @param {any} pokemon @returns {boolean} whether it has Pressure, or had it before a change of its ability */
const hasPressure = ({ ability, baseAbility }) => ability === "pressure" || baseAbility === "pressure";

/** @param {Difference} difference of a Pokémon @returns {boolean} whether an opponent of it has Pressure */
const facesPressure = ({ pokemon }) => pokemon.side.foe.pokemon.some(hasPressure);

/** @param {Difference} difference of a Pokémon @param {any} battle @returns {boolean} whether its partner may have a Pressure that costs PP */
const hasPressingPartner = ({ pokemon }, { gen }) =>
  gen < 5 && pokemon.side.pokemon.some((/** @type {any} */ other) => other !== pokemon && hasPressure(other));

/** @param {any[]} all Pokémon @returns {boolean} whether one may have swapped the Pressure of another */
const swapsPressure = (all) =>
  all.some(({ baseAbility }) => baseAbility === "pressure") && all.some(({ baseMoves }) => baseMoves.includes("skillswap"));

/** @param {any} pokemon @returns {boolean} whether it has Mimic, and another move that an opponent has, too */
const mayMimicOwn = ({ baseMoves, side }) =>
  baseMoves.includes("mimic") && side.foe.pokemon.some((/** @type {any} */ foe) => foe.baseMoves.some((/** @type {string} */ id) => baseMoves.includes(id)));

/** @type {Known[]} */
const KNOWN = [
  {
    kind: /^(own|opponent) bound$/,
    when: ({ tracked }, { gen }) => gen === 1 && tracked,
    reason: "that Wrap and similar moves of the first generation are over shows in the next turn",
  },
  {
    kind: /^(own|opponent) bound$/,
    when: ({ truth, pokemon }) => truth && !pokemon.volatiles.partiallytrapped.source.isActive,
    reason: "the simulator notices at the end of the turn that the Pokémon which binds has gone; until then it binds nobody",
  },
  {
    kind: /^(own|opponent) PP$/,
    when: ({ pokemon }, { gen }) => gen === 1 && pokemon.volatiles.twoturnmove,
    reason: "the first generation spends the PP of a move that calls a two-turn move in its second turn",
  },
  {
    kind: /^(own|opponent) PP( on the bench)?$/,
    when: ({ tracked, truth }, { gen }) => gen === 1 && tracked < truth,
    reason: "in the first generation, a transformed Pokémon that uses Metronome or Mirror Move gains PP of its own move in the same place",
  },
  {
    kind: /^(own|opponent) PP( on the bench)?$/,
    when: ({ tracked, truth }, { gen, log }) =>
      gen === 1 && tracked === truth + 1 && log.some((/** @type {string} */ line) => line.startsWith("|-hint|Desync Clause Mod")),
    reason: "in the first generation, a move chosen for another Pokémon costs PP of the user's own move in the same place",
  },
  {
    kind: /^(own|opponent) PP( on the bench)?$/,
    when: ({ pokemon }, { gen }) => gen === 1 && mayMimicOwn(pokemon),
    reason: "in the first generation, Mimic may copy a move that its user has: the lines do not show which of the two it uses",
  },
  {
    kind: /^(own|opponent) (charging|thrashing|lockon)$/,
    when: isReplacing,
    reason: "it ends while a fainted Pokémon is replaced; the lines show it when the next turn begins",
  },
  {
    kind: /^(own|opponent) (future moves|wishes) by slot$/,
    when: isReplacing,
    reason: "it came in this turn, and found a fainted Pokémon",
  },
  {
    kind: /^(own|opponent) perish$/,
    when: (difference, battle) => difference.truth && isReplacing(difference, battle) && difference.pokemon.volatiles.perishsong.duration === 4,
    reason: "the count that Perish Body starts shows as the turn ends",
  },
  {
    kind: /^(own|opponent) turns to Perish Song$/,
    when: (difference, battle) => difference.truth === 4 && isReplacing(difference, battle),
    reason: "the line that starts the count comes twice: in the song's turn, and again as that turn ends, when the count falls",
  },
  {
    kind: /^(own|opponent) maximum PP$/,
    when: ({ pokemon }, { gen }) => gen === 4 && pokemon.transformed && pokemon.ppUps.includes(0),
    reason: "in the fourth generation, a copied move has the PP Ups of the user's own move in its place: Trump Card has none",
  },
  {
    kind: /^(own|opponent) thrashing$/,
    when: ({ tracked }, { log }) => !tracked && /\|-end\|[^|]*\|move: (Doom Desire|Future Sight)\n\|-miss\|/.test(log.join("\n")),
    reason: "a Future Sight that misses as the turn ends marks the line of the turn's last move, too, as a miss",
  },
  {
    kind: /^opponent thrashing$/,
    when: ({ tracked, pokemon }, { field }) =>
      tracked && (pokemon.volatiles.confusion || pokemon.ability === "owntempo" || (field.terrain === "mistyterrain" && pokemon.isGrounded())),
    reason: "whether a rampage has ended after two turns is invisible if its user was confused already, or cannot be",
  },
  {
    kind: /^own PP$/,
    when: (difference, { gen }) => gen === 3 && facesPressure(difference),
    reason: "the third generation does not announce Pressure: the next request shows what it cost",
  },
  {
    kind: /^own PP on the bench$/,
    when: (difference, { gen }) => gen === 3 && facesPressure(difference) && difference.subject.endsWith("'s transform"),
    reason: "the third generation does not announce Pressure: the next request lists the moves that Transform copied",
  },
  {
    kind: /^opponent PP( on the bench)?$/,
    when: ({ pokemon: { side } }, { gen }) => gen === 3 && swapsPressure([...side.pokemon, ...side.foe.pokemon]),
    reason: "the third generation does not name the abilities that Skill Swap swaps: the next request shows the own one",
  },
  {
    kind: /^(own|opponent) PP( on the bench)?$/,
    when: (difference, battle) => battle.gameType === "doubles" && (facesPressure(difference) || hasPressingPartner(difference, battle)),
    reason: "in doubles, the line of a move that fails, or is prepared, names no target, so that Pressure may have cost PP or not",
  },
  {
    kind: /^opponent item( on the bench)?$/,
    when: ({ tracked, truth, pokemon }) =>
      truth === "" && pokemon.lastItem === tracked && pokemon.moveSlots.some((/** @type {any} */ { id }) => id === "naturalgift"),
    reason: "Natural Gift uses up its berry without a line, also where it has no effect",
  },
  {
    kind: /^opponent item( on the bench)?$/,
    when: ({ tracked, truth }) => truth === "" && tracked === "stickybarb",
    reason: "a Sticky Barb that sticks to whoever touches its holder does so without a line: it shows when it hurts the new holder",
  },
  {
    kind: /^opponent HP on the bench$/,
    when: ({ tracked, truth }, battle) =>
      (tracked < truth || tracked === 100) && battle.getAllPokemon().some((/** @type {any} */ { baseAbility }) => baseAbility === "regenerator"),
    reason: "Regenerator, which may be swapped, heals unseen: nothing has shown it, or an opponent's rounded hit points hide one percent",
  },
  {
    kind: /^(own|opponent) PP( on the bench)?$/,
    when: ({ pokemon }) => pokemon.side.zMoveUsed,
    reason: "the move that a Z-move replaces is known only if one move can be it",
  },
  {
    kind: /^(own|opponent) PP( on the bench)?$/,
    // Before the eighth generation, the simulator counts a side as one that used it.
    when: ({ pokemon }, { gen }) => gen === 8 && pokemon.side.dynamaxUsed,
    reason: "the move that a Max move replaces is known only if one move can be it",
  },
  {
    kind: /^(own|opponent) types$/,
    when: (difference, battle) => isReplacing(difference, battle) && ["Arceus", "Silvally"].includes(difference.pokemon.species.baseSpecies),
    reason: "a type that a plate or memory gives without the forme shows as the turn ends",
  },
  {
    kind: /^(own|opponent) species( on the bench)?$/,
    when: ({ truth }) => truth === "greninjabond" || truth === "rockruffdusk",
    reason: "the protocol hides this forme",
  },
  {
    kind: /^(own|opponent) ability( on the bench)?$/,
    when: ({ tracked, truth }) => tracked === "unnerve" && truth.startsWith("asone"),
    reason: "As One announces its parts; only a Calyrex, which has no other ability, is known to have it",
  },
];

/** @param {Difference} difference @param {any} battle @returns {string} why the difference is accepted; empty if it is unknown */
export function reasonFor(difference, battle) {
  const known = KNOWN.find(({ kind, when = () => true }) => kind.test(difference.kind) && when(difference, battle));
  return known?.reason ?? "";
}
