/** Milliseconds on the machine's monotonic clock: one for all of its processes, unlike their wall clocks. */
export const machineNow = (): number => Number(process.hrtime.bigint()) / 1e6;
