import type { StampedeCacheEvent } from '../../lib/core/events/index.js';
import { variantOf, type EntryKey } from '../../lib/core/keys/index.js';
import type { AnyPolicy, CallOptions } from '../../lib/core/policy/index.js';
import type { Request } from '../../lib/core/request.js';
import { StampedeCache } from '../../lib/core/stampede-cache.js';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { policyOf, tagsOf } from './catalogue.js';
import { Loads, type LoadPlan, type LoadStart } from './loads.js';
import { Origin } from './origin.js';
import { recordedStore } from './recorded-store.js';
import { Recorder } from './recorder.js';
import { noteOf, rowOf } from './notes.js';
import type { CallOrder, ChangeOrder, SubjectSetup } from './orders.js';
import type { ErrorNote, Row } from './records.js';

const NAME = 'Shop.row';
const UNSEEN = { leased: false, reason: 'unseen' };
/** Longer than any process lets a call wait for Redis, ms. */
const UNHEARD = 200;

/** What came of a call. */
export interface Ended {
  readonly value?: Row;
  readonly error?: ErrorNote;
}

/** The cache of one process under test. All it is asked and all it does goes into the records. */
export class Subject {
  private readonly starts = new Map<string, Pick<LoadStart, 'leased' | 'reason'>>();
  private readonly plainKeys = new Map<string, string>();
  private readonly policies = new Map<string, AnyPolicy>();
  private readonly variant: string;
  private readonly underWay = new Set<Promise<Ended>>();

  private constructor(
    readonly cache: StampedeCache,
    private readonly setup: SubjectSetup,
    readonly recorder: Recorder,
    readonly origin: Origin,
    readonly loads: Loads,
  ) {
    this.variant = variantOf(setup.version);
    for (const [key, terms] of Object.entries(setup.catalogue)) this.policies.set(key, policyOf(terms));
    cache.listen((event) => this.onEvent(event));
  }

  static async open(setup: SubjectSetup): Promise<Subject> {
    const recorder = new Recorder(setup.records, setup.process);
    const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
    const { url: connection, namespace, options } = setup;
    // Copies are believed only while the heartbeat keeps up with the cache's own lag.
    const lag = options.l1 ? options.coherence?.maxLag : undefined;
    const bare = await createRedisStore({
      connection,
      namespace,
      runtime,
      tracking: options.coherence?.mode === 'tracking',
      ...(typeof lag === 'number' && { maxLag: lag }),
    });
    let plainKey = (key: EntryKey): string => key.id;
    const store = recordedStore(bare, recorder, (key) => plainKey(key), UNHEARD);
    const cache = new StampedeCache(options, { store, runtime, holder: setup.process });
    await cache.open();
    const origin = new Origin(setup.originPort);
    const subject: Subject = new Subject(
      cache,
      setup,
      recorder,
      origin,
      new Loads(recorder, origin, (order, inside) => subject.call(order, inside)),
    );
    plainKey = (key) => subject.plainKeys.get(key.id) ?? key.id;
    for (const key of Object.keys(setup.catalogue)) subject.idOf(key);
    return subject;
  }

  idOf(key: string): string {
    const { id } = this.keyOf(key);
    this.plainKeys.set(id, key);
    return id;
  }

  /** One call, from its begin to its end. Never rejects: what came of it is in the records, and is returned. */
  call(
    order: CallOrder,
    /** The load that makes it. */
    inside?: string,
  ): Promise<Ended> {
    const ended = this.make(order, inside);
    this.underWay.add(ended);
    void ended.finally(() => this.underWay.delete(ended));
    return ended;
  }

  /** Resolves when no call is under way, those that loads make included. */
  async idle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay);
  }

  private async make(order: CallOrder, inside: string | undefined): Promise<Ended> {
    const { recorder } = this;
    const { key, call, abortAfter } = order;
    const id = recorder.id('c');
    const controller = new AbortController();
    const abort = (): void => {
      recorder.note({ kind: 'call.abort', id });
      controller.abort();
    };
    const timer = abortAfter === undefined ? undefined : setTimeout(abort, abortAfter);
    const options = { fresh: call === 'fresh', ...(timer && { signal: controller.signal }) };
    recorder.note({ kind: 'call.begin', id, key, call, ...(inside !== undefined && { inside }) });
    try {
      const request = this.request(key, id, order.plan, options);
      const answer =
        call === 'read' ? await this.cache.entries.read(request) : await this.cache.answer(request);
      const value = rowOf(answer?.value);
      recorder.note({ kind: 'call.end', id, ...(value && { value }), outcome: answer?.outcome ?? 'absent' });
      return value ? { value } : {};
    } catch (thrown) {
      const error = noteOf(thrown);
      recorder.note({ kind: 'call.end', id, error });
      return { error };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Commits a new version of the rows concerned, and says so to the cache. Never rejects. */
  async change(order: ChangeOrder): Promise<ErrorNote | undefined> {
    const { recorder, origin } = this;
    const { change, keys = [], tags = [], holdOff } = order;
    const id = recorder.id('s');
    const versions = await Promise.all((order.rows ?? this.concerned(order)).map((key) => origin.write(key)));
    const version = versions[0] ?? 0;
    recorder.note({
      kind: 'change.begin',
      id,
      change,
      keys,
      tags,
      version,
      ...(holdOff !== undefined && { holdOff }),
    });
    try {
      const row = { key: keys[0] ?? '', version, load: `~${id}~` };
      const apply = (): Promise<void> => this.apply(order, row);
      await (order.deferred === true ? this.cache.changes.defer(apply) : apply());
      recorder.note({ kind: 'change.end', id });
      return undefined;
    } catch (thrown) {
      const error = noteOf(thrown);
      recorder.note({ kind: 'change.end', id, error });
      return error;
    }
  }

  async close(): Promise<void> {
    await this.cache.close();
    this.origin.close();
  }

  private async apply({ change, keys = [], tags = [], holdOff = 0 }: ChangeOrder, row: Row): Promise<void> {
    const { changes } = this.cache;
    const requests = keys.map((key) => this.request(key, '', NO_PLAN, {}));
    switch (change) {
      case 'invalidate':
        return changes.invalidate(requests, holdOff);
      case 'expire':
        return changes.expire(requests);
      case 'invalidateTags':
        return changes.invalidateTags(tags, holdOff);
      case 'expireTags':
        return changes.expireTags(tags);
      case 'clear':
        return changes.clear();
      case 'set':
        for (const request of requests) await changes.set(request, row);
    }
  }

  private concerned({ change, keys = [], tags = [] }: ChangeOrder): readonly string[] {
    const all = Object.entries(this.setup.catalogue);
    if (change === 'clear') return all.map(([key]) => key);
    if (tags.length === 0) return keys;
    return all.filter(([, terms]) => tagsOf(terms).some((tag) => tags.includes(tag))).map(([key]) => key);
  }

  private keyOf(key: string): EntryKey {
    return this.cache.requests.keyOf({ name: NAME, variant: this.variant }, undefined, key, NAME);
  }

  private request(key: string, call: string, plan: LoadPlan, options: CallOptions): Request {
    const { requests } = this.cache;
    const policy = this.policies.get(key);
    if (!policy) throw new Error(`no key of the catalogue: ${key}`);
    const entry = this.keyOf(key);
    return {
      key: entry,
      name: NAME,
      policy: requests.policy(policy, NAME),
      call: requests.call(options),
      args: [key],
      load: (context) =>
        this.loads.run(
          key,
          call,
          plan,
          { ...(this.starts.get(entry.id) ?? UNSEEN), variant: this.variant },
          context.signal,
        ),
    };
  }

  private onEvent(event: StampedeCacheEvent): void {
    const key = this.plainKeys.get(event.key) ?? event.key;
    const { recorder } = this;
    // Emitted in the same tick in which the loader is called.
    if (event.type === 'load.start')
      this.starts.set(event.key, { leased: event.leased, reason: event.reason });
    else if (event.type === 'publish' && event.result === 'fenced')
      recorder.note({ kind: 'event', event: 'fenced', key });
    else if (event.type === 'lease.lost' || event.type === 'rejected')
      recorder.note({ kind: 'event', event: event.type, key });
  }
}

const NO_PLAN: LoadPlan = { before: 0, after: 0 };
