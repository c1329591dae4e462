/** Once per change. */
export type ReachabilityListener = (state: 'up' | 'down', reason: string) => void;

/** Whether the store can be reached: it is connected, and no server of it is silent. */
export class Reachability {
  private link: 'up' | 'down' | undefined;
  private isSilent = false;
  private told: 'up' | 'down' | undefined;

  constructor(private readonly listener: ReachabilityListener) {}

  /** The connection became usable or ceased to be. */
  linked(state: 'up' | 'down', reason: string): void {
    this.link = state;
    this.tell(reason);
  }

  onSilent(reason: string): void {
    this.isSilent = true;
    this.tell(reason);
  }

  onAnswer(): void {
    this.isSilent = false;
    this.tell('it answers again');
  }

  private tell(reason: string): void {
    const state = this.link === 'down' || this.isSilent ? 'down' : 'up';
    if (state === this.told) return;
    // A store that nobody has connected yet is not up for having answered.
    if (this.link === undefined && this.told === undefined && state === 'up') return;
    this.told = state;
    this.listener(state, reason);
  }
}
