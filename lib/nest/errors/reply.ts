import type { ServerResponse } from 'node:http';

/** What Express' response and Fastify's reply have in common. */
interface Reply {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
  send(body: object): unknown;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/**
 * Answers a request, by the structure of the response: a filter made with `new` knows no HTTP adapter. Middleware under
 * Fastify has Node's own response. Where headers went out already, the response ends as it is.
 */
export function reply(response: unknown, { status, headers, body }: HttpAnswer): void {
  const raw = rawOf(response);
  // Fastify's `sent`: hijacked, or over.
  if (raw.headersSent || (response as { readonly sent?: boolean }).sent === true) return void raw.end();
  const framework = response as Partial<Reply>; // looked at by name
  if (isReply(framework)) {
    framework.status(status);
    for (const [name, value] of Object.entries(headers)) framework.header(name, value);
    return void framework.send(body);
  }
  raw.statusCode = status;
  for (const [name, value] of Object.entries(headers)) raw.setHeader(name, value);
  raw.setHeader('Content-Type', 'application/json; charset=utf-8');
  raw.end(JSON.stringify(body));
}

/** Fastify wraps Node's response, Express extends it. */
function rawOf(response: unknown): ServerResponse {
  const { raw } = response as { readonly raw?: ServerResponse };
  return raw ?? (response as ServerResponse);
}

function isReply(response: Partial<Reply>): response is Reply {
  return (['status', 'header', 'send'] as const).every((name) => typeof response[name] === 'function');
}
