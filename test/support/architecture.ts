import { dirname, posix } from 'node:path';
import ts from 'typescript';

/** Source text by path relative to the repository, with slashes: `lib/core/entry.ts`. */
export type Sources = ReadonlyMap<string, string>;

interface Import {
  readonly specifier: string;
  /** Erased by the compiler: it makes no dependency at runtime. */
  readonly typeOnly: boolean;
  /** `import()` or `require()` inside code: loaded when it runs, not when the file loads. */
  readonly lazy: boolean;
}

const MAX_LINES = 300;
const MODULE_FILE = 'lib/nest/stampede-cache.module.ts';
const FACADES: ReadonlySet<string> = new Set([MODULE_FILE, 'lib/index.ts']);

const CORE_PACKAGES = ['ms', 'node:crypto', 'node:async_hooks', 'node:util', 'node:buffer', 'node:zlib'];
/** The load guard's circuit breaker, the near cache's list: theirs, and nobody else's. */
const FOLDER_PACKAGES: Readonly<Record<string, string>> = {
  'lib/core/guard/': 'cockatiel',
  'lib/core/near/': 'lru-cache',
};

/** Which folders of lib each folder may import, beside itself. Folders not named here: `core` and `nest`. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  redis: ['core'],
  memory: ['core'],
  runtime: ['core'],
  nest: ['core'],
  testing: ['core', 'nest', 'memory', 'runtime'],
};
const EDGE_FOLDERS: readonly string[] = ['core', 'nest'];

/** Where objects are made for each call or load; what lib/redis makes so lives as long as its connection. */
const MADE_PER_CALL = ['lib/core/', 'lib/nest/'];

/** Time and chance reach the core through ports. */
const FORBIDDEN_GLOBALS = new Set(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']);
const FORBIDDEN_MEMBERS = new Set([
  'Date.now',
  'Math.random',
  'performance.now',
  'process.nextTick',
  'process.hrtime',
]);

/** Every broken rule, one line each, beginning with the file. */
export function findViolations(sources: Sources): string[] {
  const imports = new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]));
  return [
    ...[...sources].flatMap(([file, text]) => [
      ...importViolations(file, imports.get(file) ?? []),
      ...(file.startsWith('lib/core/') ? clockViolations(file, text) : []),
      ...(MADE_PER_CALL.some((folder) => file.startsWith(folder)) ? literalViolations(file, text) : []),
      ...lengthViolations(file, text),
    ]),
    ...clientViolations(imports),
    ...cycles(imports),
  ];
}

function importViolations(file: string, imports: readonly Import[]): string[] {
  if (FACADES.has(file)) return [];
  return imports.flatMap((each) => {
    const target = resolve(file, each.specifier);
    const problem = target === undefined ? packageProblem(file, each) : folderProblem(file, target, each);
    return problem ? [`${file} imports ${each.specifier}: ${problem}`] : [];
  });
}

function folderProblem(file: string, target: string, { typeOnly }: Import): string | undefined {
  const own = folderOf(file);
  const other = folderOf(target);
  if (other === undefined) return `${target} knows every folder; only users import it`;
  if (own === undefined || own === other) return undefined;
  if ((FOLDERS[own] ?? EDGE_FOLDERS).includes(other)) return undefined;
  // The module's options name the connection's types; a type knows nothing at runtime.
  if (own === 'nest' && other === 'redis' && typeOnly) return undefined;
  return `lib/${own} may not know lib/${other}`;
}

function packageProblem(file: string, { specifier, lazy }: Import): string | undefined {
  const folder = folderOf(file);
  const home = Object.keys(FOLDER_PACKAGES).find((place) => FOLDER_PACKAGES[place] === specifier);
  if (home !== undefined) return file.startsWith(home) ? undefined : `only ${home} knows it`;
  if (folder === 'core') {
    return CORE_PACKAGES.includes(specifier)
      ? undefined
      : `lib/core may only import ${CORE_PACKAGES.join(', ')}`;
  }
  if (folder !== 'redis' && folder !== 'memory') {
    return isIoredis(specifier) ? 'only lib/redis knows ioredis' : undefined;
  }
  if (isIoredis(specifier)) {
    if (folder === 'memory') return 'only lib/redis knows ioredis';
    return lazy ? 'no dynamic import: test runners that run CommonJS in a VM context refuse it' : undefined;
  }
  return specifier.startsWith('node:') || specifier === 'ms'
    ? undefined
    : `lib/${folder} may not know this package`;
}

function clientViolations(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const loaders = [...imports]
    .filter(([, list]) => list.some((each) => isIoredis(each.specifier) && !each.typeOnly))
    .map(([file]) => file);
  return loaders.length > 1
    ? [`${loaders.join(', ')}: only one file, the one that builds a client, may load ioredis`]
    : [];
}

function lengthViolations(file: string, text: string): string[] {
  const lines = text.trimEnd().split('\n').length;
  return lines > MAX_LINES ? [`${file} has ${lines} lines, more than ${MAX_LINES}`] : [];
}

/**
 * V8 takes a function literal that is assigned to a property for a method and allocates it as old: what it captures is garbage
 * that only a full collection finds.
 */
function literalViolations(file: string, text: string): string[] {
  const found: string[] = [];
  const source = parse(file, text);
  const isLiteral = (node: ts.Node | undefined): boolean =>
    node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
  const visit = (node: ts.Node): void => {
    const isAssigned =
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
      node.operatorToken.kind <= ts.SyntaxKind.LastAssignment &&
      (ts.isPropertyAccessExpression(node.left) || ts.isElementAccessExpression(node.left)) &&
      isLiteral(node.right);
    const isField = ts.isPropertyDeclaration(node) && isLiteral(node.initializer);
    if (isAssigned || isField) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push(`${file}:${line + 1} assigns a function literal to a property: make it a const first`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function clockViolations(file: string, text: string): string[] {
  const found: string[] = [];
  const source = parse(file, text);
  const report = (node: ts.Node, what: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push(`${file}:${line + 1} uses ${what}: time and chance come through ports`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (ts.isPropertyAccessExpression(node)) {
      const member = `${node.expression.getText(source).replace(/^globalThis\./, '')}.${node.name.text}`;
      if (FORBIDDEN_MEMBERS.has(member)) report(node, member);
      if (FORBIDDEN_GLOBALS.has(node.name.text) && isGlobalObject(node.expression))
        report(node, node.name.text);
      return visit(node.expression);
    }
    if (ts.isNewExpression(node) && isNamed(node.expression, 'Date') && !node.arguments?.length)
      report(node, 'new Date()');
    if (ts.isIdentifier(node) && FORBIDDEN_GLOBALS.has(node.text) && !namesAMember(node))
      report(node, node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isNamed = (node: ts.Node, name: string) => ts.isIdentifier(node) && node.text === name;
const isGlobalObject = (node: ts.Node) => isNamed(node, 'globalThis') || isNamed(node, 'global');

/** `{ setTimeout: … }`, `setTimeout(): …` in an interface or class: a port's name, not the global. */
function namesAMember({ parent }: ts.Identifier): boolean {
  return (
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isMethodDeclaration(parent)
  );
}

/** Each cycle once, from its first file in alphabetical order. Type-only imports count: a reader follows them too. */
function cycles(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const found = new Set<string>();
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) return void found.add(canonical(path.slice(start)));
    if (done.has(file)) return;
    for (const { specifier } of imports.get(file) ?? []) {
      const target = resolve(file, specifier);
      if (target !== undefined && imports.has(target)) walk(target, [...path, file]);
    }
    done.add(file);
  };
  for (const file of [...imports.keys()].sort()) walk(file, []);
  return [...found].map((cycle) => `import cycle: ${cycle}`);
}

function canonical(cycle: readonly string[]): string {
  const first = cycle.indexOf([...cycle].sort()[0] ?? '');
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...turned, turned[0]].join(' → ');
}

function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean, lazy: boolean) => {
    if (specifier && ts.isStringLiteralLike(specifier))
      found.push({ specifier: specifier.text, typeOnly, lazy });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnlyImport(node.importClause), false);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly, false);
    else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node.moduleReference.expression, node.isTypeOnly, false);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true, false);
    else if (ts.isCallExpression(node) && loadsModule(node)) add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(parse(file, text));
  return found;
}

function isTypeOnlyImport(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.isTypeOnly) return true;
  const { name, namedBindings } = clause;
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every((element) => element.isTypeOnly);
}

const loadsModule = (call: ts.CallExpression) =>
  call.expression.kind === ts.SyntaxKind.ImportKeyword || isNamed(call.expression, 'require');

function resolve(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return posix.join(dirname(file), specifier).replace(/\.js$/, '.ts');
}

/** `core` of `lib/core/keys/encode.ts`; undefined for what lies in lib itself. */
const folderOf = (file: string): string | undefined => /^lib\/([^/]+)\//.exec(file)?.[1];

const isIoredis = (specifier: string) => specifier === 'ioredis' || specifier.startsWith('ioredis/');

const parse = (file: string, text: string) => ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
