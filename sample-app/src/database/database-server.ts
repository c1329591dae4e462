/** Where the database is. */
export interface DatabaseServer {
  readonly url: string;
  /** For the log; without a password. */
  readonly description: string;
  /** Stops the server, if it is the app that started it. May be called twice. */
  stop?(): Promise<void>;
}
