import { Logger, type LoggerService, type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import type { Runtime } from '../../lib/core/ports.js';
import type { Store } from '../../lib/core/store.js';
import type { StoreFactory } from '../../lib/nest/cache-setup.js';
import { LOG_CONTEXT, STORE_FACTORY } from '../../lib/nest/stampede-cache.constants.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';

/** What a test started; closed after it. */
const open: TestingModule[] = [];

afterEach(async () => {
  // NestJS 11 rejects where the bootstrap failed: there is nothing left to close then.
  for (const module of open.splice(0)) await module.close().catch(() => undefined);
});

/** A logger that keeps what it is told. */
export class Lines implements LoggerService {
  readonly all: { level: string; message: string; context: unknown }[] = [];

  log = (message: unknown, context?: unknown) => this.keep('log', message, context);
  warn = (message: unknown, context?: unknown) => this.keep('warn', message, context);
  error = (message: unknown, context?: unknown) => this.keep('error', message, context);

  /** The lines of the cache, as text. */
  ofCache(level?: string): string[] {
    return this.all
      .filter((line) => line.context === 'StampedeCache' && (level === undefined || line.level === level))
      .map(({ message }) => message);
  }

  private keep(level: string, message: unknown, context: unknown): void {
    this.all.push({ level, message: String(message), context });
  }
}

/** Compiles and starts an application without HTTP. It is closed when the test ends. */
export async function boot(metadata: ModuleMetadata, lines?: Lines): Promise<TestingModule> {
  const module = await compile(metadata, lines);
  return module.init();
}

export async function compile(metadata: ModuleMetadata, lines?: Lines): Promise<TestingModule> {
  const builder = Test.createTestingModule(metadata);
  if (lines) builder.setLogger(lines);
  const module = await builder.compile();
  open.push(module);
  return module;
}

/** The same on stores of the test's own. */
export async function bootOn(
  createStore: (runtime: Runtime) => Store,
  metadata: ModuleMetadata,
  lines?: Lines,
): Promise<TestingModule> {
  const factory: StoreFactory = async () => {
    const logger = new Logger(LOG_CONTEXT);
    const log = {
      info: (message: string) => logger.log(message),
      warn: (message: string) => logger.warn(message),
    };
    const runtime = createNodeRuntime({ log });
    return {
      store: createStore(runtime),
      runtime,
      onState: () => undefined,
      refusal: () => undefined,
      isUp: () => true,
    };
  };
  const builder = Test.createTestingModule(metadata).overrideProvider(STORE_FACTORY).useValue(factory);
  if (lines) builder.setLogger(lines);
  const module = await builder.compile();
  open.push(module);
  return module.init();
}

/** What starting it fails with. */
export async function bootError(metadata: ModuleMetadata, lines?: Lines): Promise<Error> {
  try {
    await boot(metadata, lines);
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('The application started.');
}
