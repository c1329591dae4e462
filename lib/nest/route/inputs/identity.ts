const CAMEL_CASE = /([a-z0-9])([A-Z])/g;
/** A digit that a word ends with is part of it: `auth0`, `oauth2`. */
const SEPARATORS = /[^a-z0-9]+|(?<=\d)(?=[a-z])/;

/** What leads to one who asks, behind the word that says so: `userId`, `tokenHash`. Of `userRole` and `userAgent` many have the same. */
const DETAIL =
  'ids?|uuid|guid|uid|name|e?mail|key|hash|no|number|num|handle|login|sub|ref|token|session|cookie|sig|data|info|payload|claims|context|user|value';
/** Also at the end of a longer word: `superuser`, `JSESSIONID`. But not `remember`. */
const LONG =
  'user|session|sessid|token|jwt|principal|identity|account|subject|login|credentials?|(?<!re)member|customer';
/** Only from the start of a word, since they hide in others: `guide`, `sidebar`, `author`. */
const SHORT = 'uid|sid|sess|o?auth|authn|authentication|authori[sz]ation';

const SAYS_WHO = new RegExp(`(?:(?:${LONG})|^(?:${SHORT}))(?:${DETAIL})*\\d*$`);
const IS_DETAIL = new RegExp(`^(?:${DETAIL})+$`);
/** Begins a yes or no, or what is not of this caller. */
const IS_QUESTION = /^(?:is|has|had|can|was|should|no|max|last|show)(?:-|$)/;
/** `ismember`, in one word. */
const IS_ASKED = new RegExp(`^(?:is|has|can)(?:${LONG})`);
/** Guards against forgery; says of no one who they are. */
const IS_FORGERY_TOKEN = /[cx]srf/;
/** Names of cookies are a client's to choose. */
const MAX_LENGTH = 100;

/**
 * Whether what has this name tells who asks: `user`, `currentUser`, `connect.sid`, `access_token`. The word that says so is the
 * last one, or has nothing but details behind it.
 */
export function saysWhoAsks(name: string): boolean {
  if (name.length > MAX_LENGTH) return false;
  const words = name.replace(CAMEL_CASE, '$1-$2').toLowerCase().split(SEPARATORS).filter(Boolean);
  const text = words.join('-');
  if (IS_QUESTION.test(text) || IS_ASKED.test(text) || IS_FORGERY_TOKEN.test(text)) return false;
  for (const word of words.reverse()) {
    if (SAYS_WHO.test(word)) return true;
    if (!IS_DETAIL.test(word)) return false;
  }
  return false;
}
