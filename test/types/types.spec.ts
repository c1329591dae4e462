import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');

/** What the compiler of this project says about a fixture, also with some text replaced. */
function diagnose(fixture: string, change: (text: string) => string = (text) => text): readonly string[] {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, process.env['NEST'] === '11' ? 'tsconfig.nest11.json' : 'tsconfig.json'),
    { noEmit: true, declaration: false, sourceMap: false },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  if (config === undefined) throw new Error('tsconfig.json could not be read');
  const file = join(__dirname, 'fixtures', fixture);
  const host = ts.createCompilerHost(config.options);
  const readFile = host.readFile.bind(host);
  host.readFile = (name) => {
    const text = readFile(name);
    return name === file && text !== undefined ? change(text) : text;
  };
  host.getSourceFile = (name, languageVersion) => {
    const text = host.readFile(name);
    return text === undefined ? undefined : ts.createSourceFile(name, text, languageVersion, true);
  };
  const program = ts.createProgram([file], config.options, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('The public types', () => {
  it('give callbacks the types of their method, and a handle those of its', () => {
    expect(diagnose('accepted.ts')).toEqual([]);
  }, 60_000);

  it('refuse what does not fit', () => {
    expect(diagnose('refused.ts')).toEqual([]);
  }, 60_000);

  it('say what to do with a synchronous method and with an Observable', () => {
    const messages = diagnose('refused.ts', (text) =>
      text.replace('// @ts-expect-error synchronous', '').replace('// @ts-expect-error an Observable', ''),
    );
    expect(messages).toHaveLength(2);
    for (const message of messages) expect(message).toMatch(/make the method async.*firstValueFrom\(\)/s);
  }, 60_000);

  it('say it of evictions too, and what a put has to resolve to', () => {
    const expected = ['synchronous (evict)', 'an Observable (put)', 'another type of value\n  @CachePut'];
    const messages = diagnose('refused.ts', (text) =>
      expected.reduce((changed, one) => {
        const directive = `// @ts-expect-error ${one}`;
        expect(changed).toContain(directive);
        return changed.replace(directive, one.includes('\n') ? '@CachePut' : '');
      }, text),
    );
    expect(messages).toEqual([
      expect.stringMatching(/@CacheEvict is for methods that return a Promise: make the method async/),
      expect.stringMatching(/@CachePut is for methods that return a Promise.*firstValueFrom\(\)/s),
      expect.stringMatching(/@CachePut stores what the method resolves to, which is not what the @Cached/),
    ]);
  }, 60_000);

  it('would notice a refusal that is none', () => {
    expect(diagnose('refused.ts', (text) => text.replace("'fnid'", "'find'"))).toEqual([
      expect.stringMatching(/Unused '@ts-expect-error'/),
    ]);
  }, 60_000);
});
