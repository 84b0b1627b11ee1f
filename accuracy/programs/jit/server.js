/*
 * An HTTP server, and two clients in the same process that send a request as soon as they have the last answer. A
 * request is 1 ms in render, 1 ms in look, and what HTTP takes. A thread beside the server audits half of the time, for
 * which no request waits.
 *
 * The line of render is the target. Truth: its share of a request, measured only.
 *
 * AUDIT as an argument: what the other thread does is the target, the function audit: 0, 0, 0, 0.
 *
 * node server.js [AUDIT] PERCENT SECONDS: as bench.h says. A visit is a call of getuid, which can be counted from
 * outside. Loops have as many steps as they are told, each needs the one before, and what comes out is added up.
 */
'use strict';
const http = require('http');
const { Worker, isMainThread } = require('worker_threads');

const M = 0x9e3779b1 | 0;
const [percent, seconds] = process.argv.slice(-2).map(Number);
const auditing = process.argv.includes('AUDIT');
let used = 0;

function render(steps) {
  let x = steps;
  for (let i = 0; i < steps; i++) x = Math.imul(x ^ x >>> 15, M); // TARGET
  return x;
}

function look(steps) {
  let x = steps;
  for (let i = 0; i < steps; i++) x = Math.imul(x ^ x >>> 15, M);
  return x;
}

function audit(steps) {
  let x = steps;
  for (let i = 0; i < steps; i++) x = Math.imul(x ^ x >>> 15, M);
  return x;
}

// How many steps take a microsecond: a step takes 5 cycles, one of C's 4 (bench.h).
function measured() {
  const lap = 100000;
  let best = Infinity;
  for (let i = 0; i < 400; i++) {
    const begin = process.hrtime.bigint();
    used += look(lap);
    best = Math.min(best, Number(process.hrtime.bigint() - begin));
  }
  return lap * 1000 / best * Number(process.env.WHATIF_CALIBRATION || 1);
}

const known = Number(process.env.WHATIF_STEPS) * 4 / 5;
const us = (n) => Math.round(n * perUS);
const perUS = known > 0 ? known : measured();
const shrunk = (n) => Math.round(n * (100 - percent) / 100);

const warmUp = 500000000n;
const begun = process.hrtime.bigint();
let started;
let visits = 0;

function visit() {
  const now = process.hrtime.bigint();
  if (now - begun < warmUp) return;
  process.getuid();
  if (started === undefined) {
    started = now;
    return;
  }
  visits++;
  const passed = Number(now - started) / 1e9;
  if (passed < seconds) return;
  console.log(`visits ${visits} seconds ${passed.toFixed(6)}`);
  process.exit(0);
}

function serve() {
  const steps = auditing ? us(1000) : shrunk(us(1000));
  const server = http.createServer((request, response) => {
    used += look(us(1000));
    const page = render(steps);
    response.end(`${page} ${used}`);
    visit();
  });
  server.listen(0, '127.0.0.1', () => {
    const agent = new http.Agent({ keepAlive: true });
    const ask = () => {
      http.get({ port: server.address().port, agent }, (answer) => {
        answer.on('data', () => {});
        answer.on('end', ask);
      });
    };
    ask();
    ask();
  });
}

function auditor() {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const steps = auditing ? shrunk(us(1000)) : us(1000);
  for (;;) {
    used += audit(steps);
    Atomics.wait(pause, 0, 0, 1);
  }
}

if (!(percent >= 0 && percent <= 100 && seconds > 0)) {
  console.error('usage: node server.js [AUDIT] PERCENT SECONDS');
  process.exit(2);
}
if (isMainThread) {
  new Worker(__filename, { argv: process.argv.slice(2) });
  serve();
} else {
  auditor();
}
