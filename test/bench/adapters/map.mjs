import { useAsyncStorage } from './async-storage.mjs';

/** The limit of copies in the process: an awaited `Map.get`; with `copies` and a JSON.parse, so that each caller owns its value. */
export function create({ copies = false, asyncStorage = false }) {
  if (asyncStorage) useAsyncStorage();
  const map = new Map();
  return {
    using() {
      const fill = async (key, load) => {
        const value = await load();
        map.set(key, copies ? JSON.stringify(value) : value);
        return value;
      };
      if (copies) {
        return (key, load) => {
          const text = map.get(key);
          return text === undefined ? fill(key, load) : JSON.parse(text);
        };
      }
      return (key, load) => map.get(key) ?? fill(key, load);
    },
    close: () => undefined,
  };
}
