// A program in which one function has nearly all of the work. It takes 1.2 s, or a second of processor time if that is
// more, as on a busy machine.
const fs = require('fs');
const out = fs.openSync('/dev/null', 'w');
function hot(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003;
  return s;
}
process.on('exit', () => fs.rmSync(`/tmp/perf-${process.pid}.map`, { force: true }));
const end = Date.now() + 1200;
let sum = 0;
while (Date.now() < end || process.cpuUsage().user < 1e6) {
  sum += hot(100000);
  fs.writeSync(out, 'x');
}
