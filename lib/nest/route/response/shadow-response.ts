import type { ResponseHead } from '../contracts.js';
import { recordedHead } from './recorded-head.js';
import type { HeaderValue, Reply } from './reply.js';
import { type Keeper, listOf, ShadowHeaders } from './shadow-headers.js';

/** What a run of a handler carries in its async context. */
export interface ShadowScope {
  readonly shadow?: ShadowResponse | undefined;
}

export interface RecordedResponse {
  /** Status and headers that the handler set. A header without values is one that it took away. */
  readonly head: ResponseHead;
  /** Its `Set-Cookie` lines. */
  readonly cookies: readonly string[];
  /** Whether it set cookies at all; a cookie plugin may have put them on the real response already. */
  readonly setsCookies: boolean;
}

/**
 * What a handler writes to its response while a load runs, in place of the response itself: that one may be sent already, and
 * others than this request get the result. A response that is sent by hand gets everything and is real from then on.
 */
export class ShadowResponse {
  status: number;
  statusMessage: string | undefined;
  /** Whether a handler ended, streamed or hijacked the response itself: what it returns is no answer. */
  sentByHand = false;
  /** Whether a handler took the request from its response: what it read there is no part of a key. */
  readsRequest = false;
  /** A real response was over when the handler sent it by hand; nothing more leaves. */
  headersSent = false;
  ended = false;

  private readonly headers = new ShadowHeaders();
  private mode: 'recording' | 'committed' | 'swallowing' = 'recording';
  /** While this class itself looks at the real response; nothing asynchronous happens meanwhile. */
  private aside = false;
  private hasPluginCookies = false;

  /** @param status what the handler starts with. @default the route's own */
  constructor(
    readonly reply: Reply,
    status?: number,
  ) {
    this.status = status ?? reply.statusBefore;
  }

  /** Whether it stands in for this response now. */
  standsFor(response: object): boolean {
    return this.reply.response === response && this.mode !== 'committed' && !this.aside;
  }

  get isRealOver(): boolean {
    return this.onReal(() => this.reply.isAnswered);
  }

  get(name: string): HeaderValue | undefined {
    const header = this.headers.get(name);
    if (header !== undefined) return header?.value;
    return this.before(name.toLowerCase());
  }

  set(name: string, value: unknown, keeper: Keeper): void {
    this.headers.set(name, value, keeper);
  }

  /** A value more, as further lines of the header. */
  append(name: string, value: unknown, keeper: Keeper): void {
    const further: unknown[] = Array.isArray(value) ? value : [value];
    this.set(name, [...listOf(this.get(name)), ...further], keeper);
  }

  /** Fastify's `header`: cookies add up, among the handler's own. */
  setOnReply(name: string, value: unknown): void {
    const own = name.toLowerCase() === 'set-cookie' ? this.headers.get(name) : undefined;
    if (own) this.append(name, value, 'reply');
    else this.set(name, value, 'reply');
  }

  remove(name: string): void {
    this.headers.remove(name);
  }

  /** All that the handler would see, by lower-case name. */
  all(): Map<string, HeaderValue> {
    const all = new Map<string, HeaderValue>();
    const names = this.onReal(() => this.reply.namesBefore());
    for (const name of [...names, ...Array.from(this.headers.entries(), ([name]) => name)]) {
      const value = this.get(name);
      if (value !== undefined) all.set(name, value);
    }
    return all;
  }

  noteCookies(): void {
    this.hasPluginCookies = true;
  }

  /** @returns whether the real response takes it from here; otherwise it is over and nothing may leave */
  commit(): boolean {
    this.sentByHand = true;
    if (this.mode === 'swallowing') return false;
    if (this.isRealOver) {
      this.mode = 'swallowing';
      return false;
    }
    this.mode = 'committed';
    this.writeOut();
    return true;
  }

  /** What of it belongs into an entry, and what was meant for this request alone. */
  head(): RecordedResponse {
    const head = recordedHead(this.status, this.headers, (name) => this.before(name));
    const there = listOf(this.before('set-cookie'));
    const cookies = listOf(this.headers.get('set-cookie')?.value).filter((cookie) => !there.includes(cookie));
    return { head, cookies, setsCookies: cookies.length > 0 || this.hasPluginCookies };
  }

  private writeOut(): void {
    const { raw } = this.reply;
    raw.statusCode = this.status;
    if (this.statusMessage !== undefined) raw.statusMessage = this.statusMessage;
    for (const [name, header] of this.headers.entries()) {
      if (!header) this.reply.erase(name);
      else if (header.keeper === 'reply') this.reply.write(header.name, header.value);
      else raw.setHeader(header.name, header.value);
    }
  }

  private before(name: string): HeaderValue | undefined {
    return this.onReal(() => this.reply.before(name));
  }

  private onReal<T>(look: () => T): T {
    const { aside } = this;
    this.aside = true;
    try {
      return look();
    } finally {
      this.aside = aside;
    }
  }
}
