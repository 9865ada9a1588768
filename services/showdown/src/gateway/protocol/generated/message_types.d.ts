// Made by scripts/make_protocol.js from schema.json.

export type ClientMessage =
  | Hello
  | Start
  | Validate
  | Generate
  | Track
  | Choices
  | Search
  | Expand
  | Value
  | Sample
  | Fork
  | Resume
  | Stop
  | Untrack;
export type GatewayMessage =
  | Welcome
  | Lines
  | Finished
  | Failed
  | Rejected
  | Recycle
  | Validated
  | Generated
  | Chosen
  | Searched
  | Expanded
  | Sampled
  | ErrorMessage;

/**
 * Made by scripts/make_protocol.py from nashdex.games.showdown.protocol.
 */
export interface Protocol {
  [k: string]: unknown;
}
/**
 * One battle to play. Its log depends on its seed, its teams and the actions, and on nothing else.
 */
export interface BattleStart {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  /**
   * 16 lower-case hex digits.
   */
  seed: string;
  /**
   * Packed teams by seat; null: the format generates one.
   *
   * @minItems 2
   * @maxItems 2
   */
  teams: [string | null, string | null];
  /**
   * Seeds of the generated teams, by seat.
   *
   * @minItems 2
   * @maxItems 2
   */
  team_seeds: [string, string];
  /**
   * Seats that receive protocol lines and requests with their rows.
   *
   * @minItems 2
   * @maxItems 2
   */
  lines: [boolean, boolean];
  /**
   * Seats that receive the tracker's state with their rows.
   *
   * @minItems 2
   * @maxItems 2
   */
  states: [boolean, boolean];
  /**
   * By seat, the seed from which the gateway draws each choice uniformly; null: the client answers.
   *
   * @minItems 2
   * @maxItems 2
   */
  draws: [string | null, string | null];
  /**
   * Return the omniscient log when the battle ends.
   */
  log: boolean;
  /**
   * Wall-clock time after which the battle fails.
   */
  deadline_seconds: number;
}
/**
 * The text of one action.
 */
export interface Choice {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * The simulator's text; null if the action is illegal.
   */
  choice: string | null;
  /**
   * Why there is no text; null if there is.
   */
  cause: string | null;
}
/**
 * Asks for the simulator's text of tracked seats' actions. The answer is ``Chosen``.
 */
export interface Choices {
  type: "choices";
  rows: TrackedAction[];
}
/**
 * An action of a tracked seat.
 */
export interface TrackedAction {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * An action number of the space.
   */
  action: number;
}
/**
 * The texts that ``Choices`` asked for, in its order.
 */
export interface Chosen {
  type: "chosen";
  rows: Choice[];
}
/**
 * What the client did wrong. The gateway then ends.
 */
export interface ErrorMessage {
  type: "error";
  code: "protocol" | "unknown_format" | "bad_frame" | "bad_message" | "unauthorized" | "overloaded" | "silent";
  message: string;
}
/**
 * Begins a search whose leaves the client values. The answer is ``Expanded``, then a row of decisions a leaf.
 */
export interface Expand {
  type: "expand";
  rows: SearchedSeat[];
  /**
   * As in `Search`, like all other fields.
   */
  nodes: number;
  turns: number;
  milliseconds: number | null;
  teams: string[];
}
/**
 * A seat to search for. The first row of an unknown battle and seat starts a tracker, as in ``Track``.
 */
export interface SearchedSeat {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * Protocol lines that the seat has received since its last row.
   */
  lines: string[];
  /**
   * The seat's newest request, which asks for a choice.
   */
  request: {
    [k: string]: unknown;
  };
  /**
   * 16 lower-case hex digits.
   */
  seed: string;
}
/**
 * Precedes the leaves of ``Expand``: decisions with one row for each, in this order.
 */
export interface Expanded {
  type: "expanded";
  rows: ExpandedSeat[];
}
/**
 * How many leaves one row of ``Expand`` has. Battles that are over at a leaf are not among them.
 */
export interface ExpandedSeat {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  leaves: number;
}
/**
 * Battles that failed. Actions for them that are still under way are ignored.
 */
export interface Failed {
  type: "failed";
  battles: FailedBattle[];
}
/**
 * Why a battle has no result.
 */
export interface FailedBattle {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  cause: "deadline" | "simulator_error" | "tracker_error" | "illegal_team" | "bad_start";
  /**
   * The validator's words, what is wrong with the start, or a stack trace.
   */
  detail: string;
}
/**
 * Battles that ended.
 */
export interface Finished {
  type: "finished";
  battles: FinishedBattle[];
  /**
   * CPU time of the gateway's process since it started, user and system.
   */
  cpu_seconds: number;
}
/**
 * How a battle ended.
 */
export interface FinishedBattle {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  /**
   * Null for a draw.
   */
  winner: (0 | 1) | null;
  turns: number;
  /**
   * Decisions by seat.
   *
   * @minItems 2
   * @maxItems 2
   */
  decisions: [number, number];
  /**
   * Choices that the simulator rejected; they are not decisions.
   */
  rejected: number;
  /**
   * The omniscient log; null if not asked for.
   */
  log: string | null;
}
/**
 * Copies a running battle at a decision that no seat has answered. The fork's decisions follow.
 */
export interface Fork {
  type: "fork";
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  /**
   * Chosen by the client, unique among running battles.
   */
  fork: number;
  /**
   * Draw what this seat has not seen; null: an exact copy with all hidden cards.
   */
  seat: (0 | 1) | null;
  /**
   * 16 lower-case hex digits.
   */
  seed: string;
  /**
   * As in `Search`.
   */
  teams: string[];
  /**
   * Wall-clock time after which the fork fails.
   */
  deadline_seconds: number;
}
/**
 * What the search found for one row.
 */
export interface Found {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * Legal actions.
   */
  actions: number[];
  /**
   * The mixture to play, by action.
   */
  probabilities: number[];
  /**
   * Values of the actions, -1 to 1.
   */
  values: number[];
  worlds: number;
  nodes: number;
  /**
   * Why the position could not be searched; the mixture is then uniform.
   */
  cause: string | null;
}
/**
 * Asks for teams. The answer is ``Generated``.
 */
export interface Generate {
  type: "generate";
  count: number;
  /**
   * 16 lower-case hex digits.
   */
  seed: string;
  /**
   * Random format whose generator is used; null: the format's own.
   */
  source: string | null;
}
/**
 * Packed teams, fewer than asked for if too few attempts gave a legal team.
 */
export interface Generated {
  type: "generated";
  teams: string[];
}
/**
 * Opens the conversation. The answer is ``Welcome``, or ``ErrorMessage`` and the end.
 */
export interface Hello {
  type: "hello";
  protocol: 13;
  /**
   * Id of a Showdown format for two players.
   */
  format: string;
  /**
   * The gateway's shared token; null if it has none.
   */
  token: string | null;
}
/**
 * Views of the seats that asked for them, sent before the decisions frame with their rows.
 */
export interface Lines {
  type: "lines";
  rows: SeatView[];
}
/**
 * What a seat that reads lines or states gets beside its row in the next decisions frame.
 */
export interface SeatView {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * Protocol lines since the seat's last row; empty if not asked for.
   */
  lines: string[];
  /**
   * The seat's request; null if it does not read lines.
   */
  request: {
    [k: string]: unknown;
  } | null;
  /**
   * The tracker's state; null if not asked for.
   */
  state: {
    [k: string]: unknown;
  } | null;
}
/**
 * Consecutive rows of one shape, such as a side's Pokémon.
 */
export interface ObservationBlock {
  name: string;
  /**
   * Within the observation.
   */
  offset: number;
  rows: number;
  /**
   * Numbers per row.
   */
  stride: number;
  fields: ObservationField[];
}
/**
 * Consecutive numbers of a row.
 */
export interface ObservationField {
  name: string;
  /**
   * Within the row.
   */
  offset: number;
  size: number;
  /**
   * A category is an index into a vocabulary, 0 for unknown.
   */
  kind: "number" | "category";
  vocabulary?: string | null;
  description?: string;
}
/**
 * Asks the client to start no more battles here, to finish those that run and to reconnect.
 */
export interface Recycle {
  type: "recycle";
  reason: string;
}
/**
 * A choice that the simulator rejected. The seat's row comes again, flagged, without this action.
 */
export interface Rejected {
  type: "rejected";
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * An action number of the space.
   */
  action: number;
  /**
   * The simulator's text; empty if the action was not legal.
   */
  choice: string;
  /**
   * The simulator's words.
   */
  cause: string;
}
/**
 * Starts a battle at a decision of one that was played elsewhere, as one seat knew it then.
 *
 * What the seat had not seen is drawn, or known from ``input``. The battle's decisions follow, as after ``Start``.
 */
export interface Resume {
  type: "resume";
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * Protocol lines so far, as each seat received them.
   *
   * @minItems 2
   * @maxItems 2
   */
  seen: [string[], string[]];
  /**
   * The seat's request, which asks for a choice.
   */
  request: {
    [k: string]: unknown;
  };
  /**
   * The simulator's input log of the battle, `>start`, `>player` and choices, played again up to the position; empty: unseen parts are drawn.
   */
  input: string[];
  /**
   * 16 lower-case hex digits.
   */
  seed: string;
  /**
   * As in `Search`.
   */
  teams: string[];
  /**
   * As in `start`; the first row's are all lines so far.
   *
   * @minItems 2
   * @maxItems 2
   */
  lines: [boolean, boolean];
  /**
   * As in `start`.
   *
   * @minItems 2
   * @maxItems 2
   */
  states: [boolean, boolean];
  /**
   * As in `start`.
   *
   * @minItems 2
   * @maxItems 2
   */
  draws: [string | null, string | null];
  /**
   * Return the omniscient log when the battle ends, from this decision on.
   */
  log: boolean;
  /**
   * Wall-clock time after which the battle fails.
   */
  deadline_seconds: number;
}
/**
 * Asks for worlds that seats cannot tell from their battles, for a search elsewhere. The answer is ``Sampled``.
 */
export interface Sample {
  type: "sample";
  rows: SearchedSeat[];
  /**
   * Worlds to draw for each row.
   */
  worlds: number;
  /**
   * As in `Search`.
   */
  teams: string[];
}
/**
 * The answers to ``Sample``, in its order.
 */
export interface Sampled {
  type: "sampled";
  rows: SampledSeat[];
}
/**
 * The worlds of one row of ``Sample``.
 */
export interface SampledSeat {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * The simulator's texts of the legal actions, by action.
   */
  choices: {
    [k: string]: string;
  };
  /**
   * Each as `src/search/snapshot.js` writes it.
   */
  worlds: {
    [k: string]: unknown;
  }[];
  /**
   * Why the position could not be rebuilt; there are then no worlds.
   */
  cause: string | null;
}
/**
 * Asks what seats should play, by search over sampled worlds. The answer is ``Searched``.
 */
export interface Search {
  type: "search";
  rows: SearchedSeat[];
  /**
   * Joint choices to play out; the last world's are all played.
   */
  nodes: number;
  /**
   * Turns that a node plays, the joint choice's own included.
   */
  turns: number;
  /**
   * Begin no world after this time; null: nodes alone count.
   */
  milliseconds: number | null;
  /**
   * Packed teams that players draw from, if the format generates none.
   */
  teams: string[];
}
/**
 * The answers to ``Search``, in its order.
 */
export interface Searched {
  type: "searched";
  rows: Found[];
  /**
   * CPU time of the gateway's process since it started, user and system.
   */
  cpu_seconds: number;
}
/**
 * Observation and action space of one format. Its fingerprint is part of a policy's identity.
 */
export interface Space {
  game: string;
  format: string;
  version: string;
  observation_size: number;
  /**
   * The actions of a decision, numbered from 0.
   */
  num_actions: number;
  /**
   * Names of the actions of one slot.
   */
  actions: string[];
  /**
   * Slots that one decision chooses for: with 2, action first · (actions of a slot) + second.
   */
  num_slots?: 1 | 2;
  /**
   * Sizes, index 0 (none or unknown) counted.
   */
  vocabularies: {
    [k: string]: number;
  };
  blocks: ObservationBlock[];
}
/**
 * Starts battles. Decisions follow, and in the end ``Finished`` or ``Failed``.
 */
export interface Start {
  type: "start";
  battles: BattleStart[];
}
/**
 * Forgets running battles, forks among them. There is no answer, and none of their decisions follows.
 */
export interface Stop {
  type: "stop";
  battles: number[];
}
/**
 * Feeds battles that run elsewhere (a replay, the ladder). Each request for a choice is answered by a decision.
 */
export interface Track {
  type: "track";
  rows: TrackedSeat[];
}
/**
 * What one seat of a battle that runs elsewhere has received since its last row.
 */
export interface TrackedSeat {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  lines: string[];
  /**
   * The seat's newest request; null if there is no new one.
   */
  request: {
    [k: string]: unknown;
  } | null;
  /**
   * Return the tracker's state after these lines, in `lines`.
   */
  state: boolean;
}
/**
 * Forgets tracked battles, whose numbers are then free again. There is no answer.
 */
export interface Untrack {
  type: "untrack";
  battles: number[];
}
/**
 * Asks whether teams are legal. The answer is ``Validated``.
 */
export interface Validate {
  type: "validate";
  /**
   * Packed or export text.
   */
  teams: string[];
}
/**
 * The verdicts on teams, in the order of ``Validate``.
 */
export interface Validated {
  type: "validated";
  /**
   * The validator's words; null for a legal team.
   */
  problems: (string[] | null)[];
  /**
   * The team as the validator accepts it; null if it is illegal.
   */
  packed: (string | null)[];
}
/**
 * Ends the searches that ``Expand`` began. The answer is ``Searched``.
 */
export interface Value {
  type: "value";
  rows: ValuedSeat[];
}
/**
 * The values of the leaves that ``Expand`` found for a row.
 */
export interface ValuedSeat {
  /**
   * Chosen by the client, unique among running battles.
   */
  battle: number;
  seat: 0 | 1;
  /**
   * In the order of the leaves' rows, -1 to 1.
   */
  values: number[];
}
/**
 * The answer to ``Hello``.
 */
export interface Welcome {
  type: "welcome";
  /**
   * Version of the pokemon-showdown package.
   */
  simulator: string;
  space: Space1;
}
/**
 * Layout of observations and actions.
 */
export interface Space1 {
  game: string;
  format: string;
  version: string;
  observation_size: number;
  /**
   * The actions of a decision, numbered from 0.
   */
  num_actions: number;
  /**
   * Names of the actions of one slot.
   */
  actions: string[];
  /**
   * Slots that one decision chooses for: with 2, action first · (actions of a slot) + second.
   */
  num_slots?: 1 | 2;
  /**
   * Sizes, index 0 (none or unknown) counted.
   */
  vocabularies: {
    [k: string]: number;
  };
  blocks: ObservationBlock[];
}
