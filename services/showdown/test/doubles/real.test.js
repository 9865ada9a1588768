/** Real battles: what people chose is legal, and the log shows most of it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { choiceOf, takeHalf, writeLegal } from "../../src/tracker/doubles/actions.js";
import { numbered, recovered, replay } from "../support/real_battles.js";

const REAL = new URL("../../../../tests/data/vgc/real-gen9vgc2023regc.jsonl.gz", import.meta.url);

test("every choice of real battles is legal, and the log shows what was chosen", () => {
  const battles = gunzipSync(readFileSync(REAL)).toString().trim().split("\n").map((line) => JSON.parse(line));
  const actions = new Uint16Array(5000);
  const counts = { decisions: 0, illegal: 0, slots: 0, named: 0, equal: 0 };
  /** @type {string[]} */
  const differences = [];
  for (const battle of battles) {
    replay(battle, (decision) => {
      const { tracker, chosen, request } = decision;
      const texts = () => Array.from(actions.subarray(0, writeLegal(tracker, actions, 0)), (action) => choiceOf(tracker, action));
      counts.decisions++;
      if (request.teamPreview) {
        const leads = texts().findIndex((text) => text.startsWith(chosen.split(", ").slice(0, 2).join(", ")));
        assert.ok(takeHalf(tracker, actions[leads]));
        assert.ok(texts().includes(chosen), chosen);
        return;
      }
      const text = numbered(chosen, request);
      if (!texts().includes(text)) {
        counts.illegal++;
        differences.push(`illegal: ${chosen} (${text}) of ${texts().slice(0, 12).join(" | ")}`);
      }
      if (!request.active) return;
      for (const [position, part] of text.split(", ").entries()) {
        if (part === "pass") continue;
        counts.slots++;
        const shown = recovered(decision, position);
        if (shown === null) continue;
        counts.named++;
        if (shown === part) counts.equal++;
        else differences.push(`slot ${position}: chosen ${part}, shown ${shown} (${chosen})`);
      }
    });
  }
  assert.equal(counts.illegal, 0, differences.join("\n"));
  assert.ok(counts.decisions > 300 && counts.named > 0.8 * counts.slots, JSON.stringify(counts));
  assert.ok(counts.equal >= 0.97 * counts.named, `${JSON.stringify(counts)}\n${differences.join("\n")}`);
});
