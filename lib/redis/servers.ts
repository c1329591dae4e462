import type { Target } from '../core/store.js';
import type { KeyNames } from './key-names.js';
import { keySlot } from './key-slot.js';
import { clientOption, isCluster, type ClientLike, type SingleLike } from './redis-like.js';

/** The servers behind a client: one, or the masters of a Cluster by `host:port`. */
export class Servers {
  constructor(
    private readonly client: ClientLike,
    /** An instance handed in may have other users: none of its connections is touched. */
    private readonly owned: boolean,
    private readonly names: KeyNames,
    /** Makes the one connection anew. */
    private readonly renew: () => void,
  ) {}

  of(target: Target): string | undefined {
    const { client } = this;
    if (!isCluster(client)) return '';
    const servers = new Set(
      this.keysOf(target).map((key) => client.slots?.[keySlot(this.prefix() + key)]?.[0]),
    );
    const [only] = servers;
    return servers.size === 1 ? only : undefined;
  }

  async probe(server: string): Promise<void> {
    const { client } = this;
    const node = isCluster(client) ? this.masterAt(server) : client;
    // One that is no master any more is asked no more: as good as an answer. A GET, since a proxy answers PING itself.
    if (node !== undefined) await node.getBuffer(this.names.probe());
  }

  reconnect(server: string): void {
    const { client, owned } = this;
    if (!owned) return;
    if (!isCluster(client)) return this.renew();
    // ioredis drops a node whose connection ends, and connects to it anew when it is wanted.
    this.masterAt(server)?.disconnect(true);
  }

  private masterAt(server: string): SingleLike | undefined {
    const { client } = this;
    if (!isCluster(client)) return undefined;
    return client
      .nodes('master')
      .find(
        (node) => `${String(clientOption(node, 'host'))}:${String(clientOption(node, 'port'))}` === server,
      );
  }

  private keysOf(target: Target): readonly string[] {
    const { names } = this;
    if (target === 'epochs') return [names.epochs()];
    if ('versionsOf' in target) return [names.variants(target.versionsOf)];
    return 'id' in target ? [names.data(target)] : target.map((id) => names.tag(id));
  }

  private prefix(): string {
    const prefix = clientOption(this.client, 'keyPrefix');
    return typeof prefix === 'string' ? prefix : '';
  }
}
