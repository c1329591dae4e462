export { credentialsOf } from './credentials.js';
export {
  decoratorOf,
  readDeclaration,
  type DeclaredInput,
  type HandlerDeclaration,
  type InputKind,
} from './declaration.js';
export { spellHeader } from './header-values.js';
export { hasNaN, KeyCover } from './key-cover.js';
export { resolveHttpInputs, type HttpHandler, type HttpInputsPlan } from './resolve-http-inputs.js';
export type { CookieSigner, FindSigner } from './values.js';
export { saysWho } from './says-who.js';
