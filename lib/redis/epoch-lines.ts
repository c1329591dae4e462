/**
 * The value of the key of epochs: a line `<epoch> <random> <scope as JSON>` for each scope. The random part belongs to the
 * clear that raised it, so that one sent twice is recognised; `-` where the epoch was only restored.
 */
const LINE = /^(\d+) \S+ (".*")$/s;

/** A scope is any text; as JSON it is free of line breaks and of what UTF-8 can't carry. */
export function scopeText(scope: string): string {
  return JSON.stringify(scope);
}

export function formatEpochs(epochs: ReadonlyMap<string, number>): string {
  return Array.from(epochs, ([scope, epoch]) => `${epoch} - ${scopeText(scope)}\n`).join('');
}

/**
 * Lines that no script of ours wrote are passed over.
 * @param latest what an epoch may be at most, server ms
 */
export function parseEpochs(text: string, latest = Number.MAX_SAFE_INTEGER): Map<string, number> {
  const epochs = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, digits, scope] = LINE.exec(line) ?? [];
    const epoch = Number(digits);
    const name = scope === undefined || epoch > latest ? undefined : parseScope(scope);
    if (name !== undefined) epochs.set(name, Math.max(epoch, epochs.get(name) ?? 0));
  }
  return epochs;
}

export function parseScope(text: string): string | undefined {
  try {
    const scope: unknown = JSON.parse(text);
    return typeof scope === 'string' ? scope : undefined;
  } catch {
    return undefined;
  }
}
