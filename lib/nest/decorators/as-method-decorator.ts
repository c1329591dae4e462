/**
 * A typed decorator as the `MethodDecorator` that `applyDecorators()` of @nestjs/common takes. Its method is not checked
 * any more: `applyDecorators(asMethodDecorator(Cached({ ttl: '60s' })), UseGuards(AuthGuard))`.
 */
export function asMethodDecorator(
  decorator: (target: never, method: string | symbol, descriptor: never) => void,
): MethodDecorator {
  return (target, method, descriptor) => {
    // What a MethodDecorator is given is what the typed one wants; only its types are gone.
    decorator(target as never, method, descriptor as never);
  };
}
