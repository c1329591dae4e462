import { TcpProxy, type TcpProxyTarget } from '../support/tcp-proxy.js';

/**
 * What stands between a process and Redis: one address whatever server is behind it. Of two proxies in a row, so that the
 * connections of one moment can fall silent while new ones work.
 */
export class Gateway {
  private readonly stranded: TcpProxy[] = [];

  private constructor(
    private readonly front: TcpProxy,
    private back: TcpProxy,
    private target: TcpProxyTarget,
  ) {}

  static async start(target: TcpProxyTarget): Promise<Gateway> {
    const back = await TcpProxy.start(target);
    return new Gateway(await TcpProxy.start(back), back, target);
  }

  get url(): string {
    return this.front.url;
  }

  delayReplies(ms: number): void {
    this.back.delayReplies(ms);
  }

  cut(): void {
    this.front.cut();
  }

  /** Another server from now on, also for those who were connected to the old one. */
  moveTo(target: TcpProxyTarget): void {
    this.target = target;
    this.back.retarget(target);
    this.front.cut();
  }

  /** Half-open: nothing passes any more on the connections that exist, and nobody closes them. New ones work. */
  async strand(): Promise<void> {
    this.back.blackHole();
    this.stranded.push(this.back);
    this.back = await TcpProxy.start(this.target);
    this.front.retarget(this.back);
  }

  /** The network is whole again: what was held arrives. */
  rescue(): void {
    for (const proxy of this.stranded) proxy.resume();
  }

  async close(): Promise<void> {
    await Promise.all([this.front, this.back, ...this.stranded].map((proxy) => proxy.close()));
  }
}
