/** Headers of content negotiation: lists of tokens, in which neither case nor white space means anything. */
const NEGOTIATION: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
]);

/** @param name in lower case */
export function isNegotiation(name: string): boolean {
  return NEGOTIATION.has(name);
}

/** One spelling for what servers take alike: `EN, fr;q=0.5` and `en,fr; q=0.5`. What has a quoted string is left alone. */
export function canonicalList(value: unknown): unknown {
  if (typeof value !== 'string' || value.includes('"')) return value;
  const text = value.toLowerCase();
  return text.includes(' ') || text.includes('\t') ? withoutBlanks(text) : text;
}

/** Blanks between two words become one space, others go. Character by character: a client chooses the length. */
function withoutBlanks(text: string): string {
  let result = '';
  let isBlankBefore = false;
  let isWordBefore = false;
  for (const character of text) {
    if (character === ' ' || character === '\t') {
      isBlankBefore = true;
      continue;
    }
    const isWord = character !== ',' && character !== ';' && character !== '=';
    if (isBlankBefore && isWordBefore && isWord) result += ' ';
    result += character;
    isBlankBefore = false;
    isWordBefore = isWord;
  }
  return result;
}

/** The usual spelling of a header's name: `Accept-Language`. */
export function spellHeader(name: string): string {
  return name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('-');
}
