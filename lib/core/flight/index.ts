export { Background } from './background.js';
export { detach, seal, tell, type Engine } from './engine.js';
export { detachedFlightOf } from './detached.js';
export { Flight, NOTHING, type ErrorNature, type Landing } from './flight.js';
export { FlightMap } from './flight-map.js';
export { flyForeground, type Departure } from './foreground.js';
export { Refresher } from './refresher.js';
export { restoreError } from './restore-error.js';
