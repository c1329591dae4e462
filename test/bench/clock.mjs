/** Milliseconds of a clock that all processes of the machine share and that nobody sets. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Begins together with other processes: sleeps, and watches the clock for the last moment. */
export async function until(at) {
  const left = at - now();
  if (left > 4) await sleep(left - 3);
  while (now() < at);
}
