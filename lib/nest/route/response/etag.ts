import { hash } from 'node:crypto';

/** Longer fields are cut: a miss costs a body, never a wrong answer. */
const MAX_LENGTH = 8_192;
/** 22 characters of base64url: 132 bits. */
const DIGEST_LENGTH = 22;
/** A tag (RFC 9110, 8.8.3), or anything else up to the next comma. */
const MEMBER = /[\s,]*(?:(W\/)?("[\x21\x23-\x7e\x80-\uffff]*")|[^,]+)/y;

/** A weak entity tag of a body: the same text may leave with another content coding. */
export function etagOf(body: Uint8Array | string): string {
  return `W/"${hash('sha1', body, 'base64url').slice(0, DIGEST_LENGTH)}"`;
}

/** Whether `If-None-Match` names the tag (RFC 9110, 13.1.2): a list or `*`, compared weakly. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  const field = ifNoneMatch.length > MAX_LENGTH ? ifNoneMatch.slice(0, MAX_LENGTH) : ifNoneMatch;
  if (field.trim() === '*') return true;
  const wanted = opaque(etag);
  const member = new RegExp(MEMBER); // a copy: it keeps its place
  for (let found = member.exec(field); found; found = member.exec(field)) {
    if (found[2] === wanted) return true;
  }
  return false;
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}
