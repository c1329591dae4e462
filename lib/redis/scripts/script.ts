/** One Lua script: what it is called, how many keys it takes, its text. */
export interface Script {
  readonly name: string;
  readonly numberOfKeys: number;
  readonly lua: string;
}
