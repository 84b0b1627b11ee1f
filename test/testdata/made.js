// A program in which one function has nearly all of the work. It takes two seconds of processor time, so that its start
// has a small part of it on a busy machine, too.
const fs = require('fs');
const out = fs.openSync('/dev/null', 'w');
function hot(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003;
  return s;
}
process.on('exit', () => fs.rmSync(`/tmp/perf-${process.pid}.map`, { force: true }));
let sum = 0;
while (process.cpuUsage().user < 2e6) {
  sum += hot(100000);
  fs.writeSync(out, 'x');
}
