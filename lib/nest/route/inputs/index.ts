export { credentialsOf } from './credentials.js';
export { readDeclaration, type DeclaredInput, type HandlerDeclaration } from './declaration.js';
export { resolveHttpInputs, type HttpHandler, type HttpInputsPlan } from './resolve-http-inputs.js';
export type { CookieSigner, FindSigner } from './values.js';
export { saysWho } from './says-who.js';
