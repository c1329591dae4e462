/** Redis can't be asked at present. The command was not sent and will not run later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
