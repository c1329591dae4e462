/** A change was made, but the store may not tell the other processes of it: they may go by what they remember. */
export class NotAnnounced extends Error {
  override readonly name = 'NotAnnounced';
}
