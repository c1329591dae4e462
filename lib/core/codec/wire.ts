/**
 * What typed JSON (codec `t`) looks like. It is a JSON text in which
 *
 * - a string that begins with `~` is a mark: `~u` undefined, `~n` NaN, `~+` and `~-` the infinities, `~0` minus zero,
 *   `~b12` a bigint (`~b-0x1f…` from a thousand digits on), `~d0` a Date in ms (`~d` alone: an invalid one), `~B…` a Buffer in base64, `~Uhttp://…` a URL,
 *   `~~…` the string `~…`;
 * - an array whose first element begins with `~#` is a container: `["~#Map", key, value, …]`.
 *
 * A string of the value that begins with `~` is written with one more, so none can be taken for a mark, and no mark
 * begins with `~#`, so no array can be taken for a container. Property names are never marked.
 *
 * The format stays: an entry may be read years and versions later. Its fixtures are in the tests.
 */
export const MARK = '~';
export const MARK_CODE = 0x7e;
export const HASH_CODE = 0x23;

export const UNDEFINED = '~u';
export const NOT_A_NUMBER = '~n';
export const INFINITE = '~+';
export const MINUS_INFINITE = '~-';
export const MINUS_ZERO = '~0';
export const BIGINT = '~b';
export const DATE = '~d';
export const BUFFER = '~B';
export const URL_TEXT = '~U';

/** `["~#Map", key, value, key, value, …]` */
export const MAP = '~#Map';
/** `["~#Set", element, …]` */
export const SET = '~#Set';
/** `["~#RegExp", source, flags, lastIndex]` */
export const REG_EXP = '~#RegExp';
/** `["~#URLSearchParams", "a=1&b=2"]` */
export const SEARCH_PARAMS = '~#URLSearchParams';
/** `["~#Uint8Array", base64]`, likewise every other typed array, ArrayBuffer and DataView. */
export const BINARY = '~#';
/** `["~#Array", length, { "0": element, "name": value }]`: one with holes or properties of its own. */
export const ODD_ARRAY = '~#Array';
/** `["~#null", { … }]`: an object without a prototype. */
export const NULL_PROTOTYPE = '~#null';
/** `["~#Error", "TypeError", { own hidden properties }, { own visible ones }]`, the stack left out. */
export const ERROR = '~#Error';
/** `["~#class", name, { … }]`, and a trailing `1` where the class itself was its own property `constructor`. */
export const INSTANCE = '~#class';
/** `["~#class-error", name, { own hidden properties }, { own visible ones }]` */
export const ERROR_INSTANCE = '~#class-error';

/** Containers within containers: far below what overflows a call stack, in here or in `JSON.stringify`. */
export const MAX_DEPTH = 500;

/** The same on the wire, where one container of the value takes at most two of JSON. */
export const MAX_WIRE_DEPTH = 2 * MAX_DEPTH + 2;
