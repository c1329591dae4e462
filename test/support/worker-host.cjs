// What a worker process runs: see processes.ts.
require('./register-swc.cjs');
require('./worker-host.ts');
