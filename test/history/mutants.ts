import type { ScheduleName } from './schedules.js';

export interface Edit {
  /** Relative to the project. */
  readonly file: string;
  /** Found exactly once, or the mutant is outdated. */
  readonly find: string;
  readonly replace: string;
}

/** A build that breaks one rule of the protocol. The checker must find it out. */
export interface Mutant {
  readonly name: string;
  /** Why it is wrong. */
  readonly why: string;
  readonly edits: readonly Edit[];
  /** The schedule that opens its window. */
  readonly schedule: ScheduleName;
  /** The guarantees that the schedule shows to be broken. */
  readonly breaks: readonly string[];
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a publish without the fence',
    why: 'A load whose lease was taken by an invalidation brings the old row back.',
    edits: [
      {
        file: 'lib/redis/scripts/commit.ts',
        find: "if not lease or string.sub(lease, 1, 23) ~= 'L' .. ARGV[1] then\n  redis.call('UNLINK', KEYS[3])",
        replace: "if false then\n  redis.call('UNLINK', KEYS[3])",
      },
      {
        file: 'lib/redis/scripts/commit.ts',
        find: "local contended = string.sub(lease, 24, 24) == 'w'",
        replace: "local contended = lease and string.sub(lease, 24, 24) == 'w'",
      },
    ],
    schedule: 'revoked',
    breaks: ['2', '3'],
  },
  {
    name: 'an invalidation that keeps the lease',
    why: 'It drops the entry, but the load under way may still publish what it read before.',
    edits: [
      {
        file: 'lib/redis/scripts/invalidate.ts',
        find: "${END_LEASE('KEYS[2]', 'tonumber(ARGV[1])')}",
        replace: 'local contended = false',
      },
    ],
    schedule: 'revoked',
    breaks: ['2', '3'],
  },
  {
    name: 'joiners served on a rejected commit',
    why: 'Who came after the invalidation joined the load that it revoked, and gets its value.',
    edits: [
      {
        file: 'lib/core/flight/load-flight.ts',
        find: 'flight.land((await settled) ? landing : NOTHING);',
        replace: 'await settled;\n  flight.land(landing);',
      },
    ],
    schedule: 'joined',
    breaks: ['2', '3'],
  },
  {
    name: 'sealed after the commit',
    why: 'Who comes while the reply of the commit is under way may have been invalidated after it.',
    edits: [
      {
        file: 'lib/core/flight/load-flight.ts',
        find: '  seal(engine, flight);\n  slot.release();',
        replace: '  slot.release();',
      },
      {
        file: 'lib/core/flight/load-flight.ts',
        find: 'flight.land((await settled) ? landing : NOTHING);',
        replace:
          'const end = (await settled) ? landing : NOTHING;\n  seal(engine, flight);\n  flight.land(end);',
      },
    ],
    schedule: 'sealed',
    breaks: ['3'],
  },
  {
    name: 'tags read after the load',
    why: 'An invalidation during the load goes unnoticed: the old row carries the new tag.',
    edits: [
      {
        file: 'lib/core/flight/load-flight.ts',
        find: 'await conclude(engine, flight, request, terms, result, guarded);',
        replace:
          'const late = await engine.baselines.take(request, terms.tags, 60_000);\n' +
          '  await conclude(engine, flight, request, terms, result, { ...guarded, baseline: { ...late, epoch: guarded.baseline.epoch } });',
      },
    ],
    schedule: 'tagged',
    breaks: ['3'],
  },
  {
    name: 'a read shared after it was sent',
    why: 'Its answer may be older than a change acknowledged to whoever joins it.',
    edits: [
      {
        file: 'lib/core/coherence/tick-reads.ts',
        find: 'this.gathering = new Map();\n      for (const each of leaving) close(each);\n      this.send(leaving);',
        replace:
          'for (const [place, { listeners }] of this.gathering) {\n        const forget = (): void => void this.gathering.delete(place);\n        listeners.push({ found: forget, failed: forget });\n      }\n      this.send(leaving);',
      },
    ],
    schedule: 'shared',
    breaks: ['3'],
  },
  {
    name: 'a stale value held by the flight',
    why: 'A joiner that has not read gets what the leader read before the invalidation.',
    edits: [
      {
        file: 'lib/core/call/own-read.ts',
        find: '  /** The id of what may not be served at `now`, and must not count as a hit of the next question. */',
        replace:
          '  lend(entry: StoredEntry): void {\n    this.hasRead = true;\n    this.answer ??= { entry, foundId: entry.header.id };\n  }\n\n' +
          '  /** The id of what may not be served at `now`, and must not count as a hit of the next question. */',
      },
      {
        file: 'lib/core/call/call.ts',
        find: '    if (inside && wouldDeadlock(inside, flight)) return this.standIn(this.reentrant(), false);',
        replace:
          '    if (flight.held) this.own.lend(flight.held);\n' +
          '    if (inside && wouldDeadlock(inside, flight)) return this.standIn(this.reentrant(), false);',
      },
    ],
    schedule: 'held',
    breaks: ['3'],
  },
  {
    name: 'a late grant adopted',
    why: 'The lease was granted after the load had read: it proves nothing of what happened in between.',
    edits: [
      {
        file: 'lib/core/flight/foreground.ts',
        find: '      return this.withoutStore(slot, error);\n    }\n    if (reply.code',
        replace:
          '      return this.loadUnderLease(slot, token, this.engine.gate.store.now());\n    }\n    if (reply.code',
      },
      {
        file: 'lib/core/gate/store-gate.ts',
        find: "if (late && answer.code === 'owner') giveBack();",
        replace: 'void answer;',
      },
      {
        file: 'lib/core/gate/store-gate.ts',
        find: "if (sent && request.mode !== 'probe') giveBack();",
        replace: 'void sent;',
      },
    ],
    schedule: 'late',
    breaks: ['2', '3'],
  },
];
