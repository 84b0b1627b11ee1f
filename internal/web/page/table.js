// The table.
const rowsAPage = 100;
const verdicts = ['faster', 'slower', 'unsure', 'none', 'untried'];
const labels = { faster: 'optimize', slower: 'backfires', unsure: 'unclear', none: 'no effect', untried: 'not tried' };
const verdictOf = at => { const r = rows && rows.rows[0][at]; return !r || r.refused ? 'untried' : r.verdict; };
const columns = () => {
  const v = view();
  const value = i => at => { const r = rows && rows.rows[0][at]; return r ? r.values[i] : null; };
  return [
    { id: 'rank', name: '#', class: 'c-rank', key: at => -at },
    { id: 'name', name: 'Unit', class: 'c-unit', key: at => index.units[at].name, up: true },
    { id: 'share', name: 'Share', class: 'c-share', key: at => index.units[at].share[0] },
    { id: '', name: 'Curve', class: 'c-curve' },
    ...(v ? v.columns : []).map((name, i) => ({ id: 'gain' + i, name: name.replace(' faster', ''), label: name, class: 'c-gain c-g' + i, key: value(i) })),
    { id: 'verdict', name: 'Verdict', class: 'c-verdict', key: at => -verdicts.indexOf(verdictOf(at)) },
    { id: 'n', name: 'Exp.', label: 'Experiments', class: 'c-n', key: at => index.units[at].tried[0] },
  ];
};
let visible = []; // places of the units that the filters leave, sorted
const filter = (verdictToo = true) => {
  const q = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (s, part) => !part || (s || '').toLowerCase().includes(part.toLowerCase());
  const wanted = state.verdict ? new Set(state.verdict.split(',')) : null;
  const min = Number(state.min) || 0;
  const out = [];
  index.units.forEach((u, at) => {
    if (q.every(w => texts[at].includes(w)) && has(u.file, state.file) && has(u.func, state.func) && has(u.binary, state.binary) &&
      Math.max(...u.tried) >= min && (!verdictToo || !wanted || wanted.has(verdictOf(at)))) out.push(at);
  });
  return out;
};
const sort = list => {
  const c = columns().find(c => c.id === (state.sort || 'rank')) || columns()[0];
  const flip = state.down === '1' ? -1 : 1;
  const unknown = x => x === null || x === undefined;
  return list.map(at => [c.key(at), at]).sort(([a, i], [b, j]) => {
    if (unknown(a) || unknown(b)) return unknown(a) - unknown(b) || i - j; // comes last either way
    const d = typeof a === 'string' ? a.localeCompare(b, 'en', { numeric: true }) : a - b;
    return flip * (c.up ? d : -d) || i - j; // numbers: the largest first
  }).map(([, at]) => at);
};

const cell = (main, was) => was == null ? [main] : [main, el('span', { class: 'was' }, 'was ' + was)];
// A gain as the reports write it: 1.0±0.2, or, if it is an estimate, ~1.0±0.2.
const gainCell = s => {
  const [value, half] = s.replace('~', '').split('±');
  return [...(s.startsWith('~') ? [el('span', { class: 'sr' }, 'estimated '), el('span', { 'aria-hidden': 'true', title: 'estimated, not tested' }, '~')] : []),
    value, half ? el('span', { class: 'pm' }, ' ±' + half) : null];
};
const spark = r => {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('class', 'spark ' + r.verdict);
  const curve = r.basis === 'estimated' ? 'curve estimate' : 'curve';
  svg.setAttribute('viewBox', '0 0 100 28');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true'); // the cells beside it say the same in numbers
  for (const [name, d] of [['zero', 'M0 ' + view().zero + 'H100'], ['band', r.spark[0]], [curve, r.spark[1]]]) {
    const p = document.createElementNS(ns, 'path');
    p.setAttribute('class', name);
    p.setAttribute('d', d);
    svg.append(p);
  }
  return svg;
};
const warnings = list => {
  if (!list.length) return null;
  const all = list.map(w => w.text).join('; ');
  return el('span', { class: 'warn', title: all }, ' ⚠', el('span', { class: 'sr' }, ' warning: ' + all));
};
const waits = u => { // the most of it; the rest where there is room
  const all = u.waits && u.waits[0];
  if (!all) return null;
  const [most, ...more] = all.split(', ');
  return el('span', { class: 'waits', title: 'waits: ' + all + ' of the time' }, el('span', { class: 'sr' }, 'waits: '), most, more.length ? el('span', { 'aria-hidden': 'true' }, '+') : null, more.length ? el('span', { class: 'sr' }, ', ' + more.join(', ')) : null);
};
// A long name breaks after its parts.
const parted = name => name.split(/(?<=::|\/)/).flatMap((part, i) => i ? [el('wbr', {}), part] : [part]);
const linkTo = u => '#' + new URLSearchParams({ ...(state.view && { view: state.view }), ...(state.show && { show: state.show }), unit: u.id });
// A unit's verdict says what to do, not what it is: it was not faster before.
const wasWords = { faster: 'was worth optimizing', none: 'had no effect', slower: 'backfired', unsure: 'was unclear' };
const makeRow = at => {
  const u = index.units[at], r = rows && rows.rows[0][at], b = rows && rows.rows[1] && rows.rows[1][at], compared = index.sides.length > 1;
  const was = s => compared ? s : null, beside = [u.beside, u.was ? 'before: ' + u.was : ''].filter(Boolean).join(', ');
  const names = [el('a', { href: linkTo(u), title: u.name + (u.file || u.binary ? ', ' + (u.file ? u.file + (u.line ? ':' + u.line : '') : u.binary) : '') }, ...parted(u.name)), beside ? el('span', { class: 'muted', title: beside }, beside) : null];
  const tr = el('tr', { 'data-unit': u.id },
    el('td', { class: 'c-rank' }, String(at + 1)),
    el('th', { class: 'unit c-unit', scope: 'row', abbr: u.name }, ...(u.text ? [el('span', { class: 'name' }, ...names), el('code', { class: 'text', title: u.text }, u.text)] : names)),
    el('td', { class: 'c-share' }, ...cell(u.share[0].toFixed(1) + '%', was(compared ? u.share[1].toFixed(1) + '%' : null)), waits(u)),
    el('td', { class: 'c-curve' }, r && !r.few && !r.refused ? spark(r) : null),
    ...(view() ? view().columns : []).map((_, i) => el('td', { class: 'c-gain c-g' + i }, ...(r ? gainCell(r.cells[i]) : ['–']), compared ? el('span', { class: 'was' }, 'was ' + (b ? b.cells[i].split('±')[0] : '–')) : null)),
    el('td', { class: 'c-verdict ' + verdictOf(at), title: r ? r.words : 'sampled, but never tried' }, r ? (!r.visited ? 'never visited' : r.few ? 'too few' : labels[verdictOf(at)]) : 'not tried', r ? warnings([...r.warnings, ...u.warnings[0]]) : null, r && (r.basis === 'estimated' || r.refused) ? el('span', { class: 'was' }, r.refused ? 'no estimate' : 'estimated') : null,
      compared && b && (!r || b.verdict !== r.verdict) ? el('span', { class: 'was' }, wasWords[b.verdict]) : null),
    el('td', { class: 'c-n' }, ...cell(String(u.tried[0]), was(u.tried[1]))));
  tr.children[2].style.setProperty('--part', u.share[0] + '%');
  return tr;
};
const showTable = () => {
  const heads = columns().map(c => {
    const sorted = c.id && c.id === (state.sort || 'rank');
    const first = c.up ? 'ascending' : 'descending', other = c.up ? 'descending' : 'ascending';
    return el('th', { class: c.class, scope: 'col', 'aria-sort': sorted ? (c.id === 'rank' ? (state.down === '1' ? 'descending' : 'ascending') : state.down === '1' ? other : first) : null, abbr: c.label },
      c.id ? el('button', { type: 'button', 'data-sort': c.id, 'aria-label': c.label || null, title: c.label || null }, c.name) : c.name);
  });
  const focused = document.activeElement && document.activeElement.dataset.sort;
  $('heads').replaceChildren(...heads);
  if (focused) $('heads').querySelector('[data-sort="' + focused + '"]').focus();
  visible = sort(filter());
  const pages = Math.max(1, Math.ceil(visible.length / rowsAPage));
  const page = Math.min(pages, Math.max(1, Number(state.page) || 1));
  const here = visible.slice((page - 1) * rowsAPage, page * rowsAPage);
  const link = document.activeElement && document.activeElement.closest('#body tr');
  $('body').replaceChildren(...here.map(makeRow));
  if (link) { const a = rowOf(link.dataset.unit); if (a) a.querySelector('a').focus({ preventScroll: true }); }
  const all = index.units.length;
  text($('count'), visible.length === all ? plural(all, 'unit') : visible.length.toLocaleString('en') + ' of ' + plural(all, 'unit'));
  $('clear').hidden = visible.length === all;
  $('pages').hidden = pages === 1;
  text($('page'), 'page ' + page + ' of ' + pages);
  $('previous').disabled = page === 1;
  $('next').disabled = page === pages;
  const v = view();
  $('order').replaceChildren(...columns().filter(c => c.id).map(c => el('option', { value: c.id, selected: c.id === (state.sort || 'rank') }, c.id === 'rank' ? 'what is certain' : c.label || c.name)));
  text($('caption'), v ? v.title + ': ' + v.about : 'Units');
  showChips();
  showMap();
};
const rowOf = id => [...$('body').children].find(tr => tr.dataset.unit === id);
const showChips = () => {
  const counts = {};
  for (const at of filter(false)) counts[verdictOf(at)] = (counts[verdictOf(at)] || 0) + 1;
  const wanted = new Set(state.verdict ? state.verdict.split(',') : []);
  for (const v of verdicts) {
    let b = $('chip-' + v);
    if (!b) {
      b = el('button', { type: 'button', id: 'chip-' + v, class: v, 'data-verdict': v }, labels[v], el('span', { class: 'n' }));
      $('verdicts').append(b);
    }
    b.setAttribute('aria-pressed', wanted.has(v));
    b.hidden = !counts[v] && !wanted.has(v);
    text(b.lastChild, String(counts[v] || 0));
  }
};
