import type { LoggerService } from '@nestjs/common';

export interface Line {
  readonly level: 'log' | 'warn' | 'error';
  readonly message: string;
  readonly context: unknown;
}

/** A logger that keeps what it is told. Nest has one logger for all applications of a process. */
export class Lines implements LoggerService {
  private kept: Line[] = [];

  log = (message: unknown, context?: unknown) => this.keep('log', message, context);
  warn = (message: unknown, context?: unknown) => this.keep('warn', message, context);
  error = (message: unknown, context?: unknown) => this.keep('error', message, context);

  /** What the cache warned of, as text. */
  get warnings(): string[] {
    return this.kept
      .filter(({ level, context }) => context === 'StampedeCache' && level !== 'log')
      .map(({ message }) => message);
  }

  clear(): void {
    this.kept = [];
  }

  private keep(level: Line['level'], message: unknown, context: unknown): void {
    this.kept.push({ level, message: String(message), context });
  }
}
