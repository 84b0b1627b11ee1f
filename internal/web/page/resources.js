// Resources: embedded as they are, embedded and packed, or fetched.
const cache = new Map();
const load = name => {
  if (!cache.has(name)) cache.set(name, read(name).catch(e => { cache.delete(name); throw e; }));
  return cache.get(name);
};
const read = async name => {
  const e = $('data-' + name);
  if (e && e.type === 'application/json') return JSON.parse(e.textContent);
  if (e) {
    const bytes = Uint8Array.from(atob(e.textContent), c => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
  }
  const answer = await fetch(index.version + '/' + name, { cache: 'no-store' });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
};

let index = JSON.parse($('data-index').textContent);
let rows = JSON.parse($('data-rows-0').textContent); // of the view that is shown
let rowsOf = 0;
let known = new Map(); // unit id → its place
let texts = []; // what search looks through
const learn = () => {
  known = new Map(index.units.map((u, i) => [u.id, i]));
  texts = index.units.map(u => [u.name, u.func, u.beside, u.file, u.binary, u.text].join('\n').toLowerCase());
};
