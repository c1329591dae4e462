/** Within a `describe`: fails each test that leaves a rejection nobody handles. */
export function watchUnhandled(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  afterEach(() => {
    const left = unhandled.splice(0);
    if (left.length > 0) throw new Error('a rejection was not handled', { cause: left });
  });
}
