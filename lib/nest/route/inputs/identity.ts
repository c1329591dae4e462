const CAMEL_CASE = /([a-z0-9])([A-Z])/g;

/**
 * Long words count anywhere in a name; short ones only as words, since they hide in others: `guide`, `sidebar`, `author`, and
 * `authority`, which is the host of an HTTP/2 request.
 */
const SAYS_WHO =
  /user|session|sessid|token|jwt|principal|identity|account|subject|login|credential|member|customer|(?:^|[^a-z])(?:uid|sid|sess|o?auth(?!or(?!i[sz]))[a-z]*)(?![a-z])/;

/** Whether what has this name tells who asks: `user`, `currentUser`, `connect.sid`, `access_token`. */
export function saysWhoAsks(name: string): boolean {
  return SAYS_WHO.test(name.replace(CAMEL_CASE, '$1-$2').toLowerCase());
}
