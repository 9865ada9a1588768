import assert from "node:assert/strict";
import { test } from "node:test";
import { uniform } from "../../src/gateway/uniform.js";
import { Peer, start } from "../support/peer.js";

const SEEDS = ["0123456789abcdef", "ffffffffffffffff"];

/**
 * Play a battle to its end. A seat without a seed here is the gateway's.
 * @param {string} format
 * @param {object} fields of the start
 * @param {(string | null)[]} seeds from which this client draws, by seat
 * @returns {Promise<{entry: any, numRows: number}>} its entry of `finished`, and the rows that the client got
 */
async function played(format, fields, seeds) {
  const peer = await Peer.inProcess().hello(format);
  const counters = [0, 0];
  let numRows = 0;
  peer.tell({ type: "start", battles: [start(1, { log: true, ...fields })] });
  for (;;) {
    const message = await peer.next();
    if (message.type === "finished") return { entry: message.battles[0], numRows };
    if (message.type === "rejected") continue;
    assert.equal(message.type, "decisions", JSON.stringify(message));
    numRows += message.battles.length;
    const rows = message.seats.map((/** @type {number} */ seat, /** @type {number} */ row) => {
      const seed = seeds[seat];
      assert.ok(seed !== null, `a row of the gateway's seat ${seat}`);
      const legal = message.legal[row];
      return { battle: 1, seat, action: legal[Math.floor(uniform(BigInt(`0x${seed}`), counters[seat]++) * legal.length)] };
    });
    peer.act(rows);
  }
}

/** Of the seeds 0, 1, 2^64 - 1 and 0x0123456789abcdef. */
const FIRST = [0.8833108082136426, 0.5665615751722809, 0.8939429202831845, 0.08389616190521443];
const THOUSAND_AND_FIRST = [0.17569250689332405, 0.46630860756399706, 0.7162012505091231, 0.509193307849766];

test("draws are those of nashdex.core.seeds.uniforms", () => {
  const seeds = [0n, 1n, 2n ** 64n - 1n, 0x0123456789abcdefn];
  assert.deepEqual(seeds.map((seed) => uniform(seed, 0)), FIRST);
  assert.deepEqual(seeds.map((seed) => uniform(seed, 1000)), THOUSAND_AND_FIRST);
});

/** A player whose switches the simulator rejects, because the opponent's ability is not known yet. */
const packed = (/** @type {string} */ species, /** @type {string} */ ability, /** @type {string} */ moves) => `${species}||Leftovers|${ability}|${moves}|Hardy|1,,,,,|||||`;
const TRAPPED = {
  teams: [
    [packed("Pikachu", "Static", "thunderbolt"), packed("Snorlax", "Immunity", "bodyslam")].join("]"),
    packed("Dugtrio", "Arena Trap", "sandattack"),
  ],
};

for (const [format, fields, rejects] of /** @type {[string, object, boolean][]} */ ([
  ["gen1randombattle", {}, false],
  ["gen9randombattle", {}, false],
  ["gen9randomdoublesbattle", {}, false],
  ["gen8anythinggoes", TRAPPED, true],
])) {
  test(`the gateway draws the choices that a client would in ${format}`, async () => {
    const neither = await played(format, fields, SEEDS);
    const one = await played(format, { ...fields, draws: [SEEDS[0], null] }, [null, SEEDS[1]]);
    const both = await played(format, { ...fields, draws: SEEDS }, [null, null]);
    assert.deepEqual(one.entry, neither.entry);
    assert.deepEqual(both.entry, neither.entry);
    assert.match(neither.entry.log, /\n\|(win\|Player [12]|tie)$/);
    assert.equal(neither.entry.rejected > 0, rejects);
    assert.ok(one.numRows > 0 && one.numRows < neither.numRows);
    assert.equal(both.numRows, 0);
  });
}
