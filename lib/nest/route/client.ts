import type { ServerResponse } from 'node:http';

/** A client that may go before it is answered. */
export interface Client {
  /** Aborts when it has gone. */
  readonly signal: AbortSignal;
  /** Its answer is on the way. */
  forget(): void;
}

export function whenGone(response: ServerResponse): Client {
  const controller = new AbortController();
  const onClose = (): void => {
    if (!response.writableFinished) controller.abort(new DOMException('The client has gone.', 'AbortError'));
  };
  if (response.destroyed) onClose();
  else response.once('close', onClose);
  return { signal: controller.signal, forget: () => response.removeListener('close', onClose) };
}
