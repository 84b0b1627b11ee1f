// A unit's details.
let asked = 0;
let shownDetail = ''; // what the pane shows: version, view and unit
const showDetail = async () => {
  const at = chosen();
  document.body.classList.toggle('with-detail', at >= 0 && (wide.matches || state.unit !== ''));
  for (const tr of $('body').children) tr.toggleAttribute('aria-current', false) || (known.get(tr.dataset.unit) === at && tr.setAttribute('aria-current', 'true'));
  if (state.show === 'map') chooseSpot(at);
  if (at < 0) { $('detail').hidden = true; shownDetail = ''; return; }
  const u = index.units[at], v = viewPlace(), key = [index.version, v, u.id].join(' ');
  if (key === shownDetail) { $('detail').hidden = false; return; }
  const mine = ++asked;
  const fresh = shownDetail.split(' ').slice(1).join(' ') !== key.split(' ').slice(1).join(' ');
  let d = null, source = null, failed = '';
  try {
    if (index.views.length) d = (await load('detail-' + v + '-' + Math.floor(at / index.chunk))).find(d => d.id === u.id);
    if (u.source >= 0) source = await load('source-' + u.source);
  } catch (e) { failed = 'These details cannot be fetched: whatif has ended. (' + e.message + ')'; }
  if (mine !== asked) return; // something else was chosen meanwhile
  shownDetail = failed ? '' : key;
  const open = new Set([...$('detail').querySelectorAll('details[open]')].map(x => x.dataset.name));
  const scrolled = $('detail').scrollTop;
  $('detail').replaceChildren(...detail(u, d, source, failed));
  if (!fresh) {
    for (const x of $('detail').querySelectorAll('details')) x.open = open.has(x.dataset.name);
    $('detail').scrollTop = scrolled;
  } else $('detail').scrollTop = 0;
  $('detail').hidden = false;
  const line = $('detail').querySelector('.source .this'); // in the middle of what is seen of the source
  if (line) { const box = line.closest('.scroll'); box.scrollTop = line.offsetTop - box.clientHeight / 2; }
  $('detail').dataset.shown = u.id;
  text($('beside'), wide.matches && state.unit ? 'Details of ' + u.name + ' are behind the table' : '');
  performance.mark('whatif-detail');
};
const detail = (u, d, source, failed) => {
  const compared = index.sides.length > 1;
  const out = [el('div', { class: 'top' }, el('h2', {}, ...parted(u.name)), el('button', { type: 'button', class: 'back', onclick: back }, state.show === 'map' ? 'Back to the map' : 'Back to the table'))];
  const place = u.file ? u.file + (u.line ? ':' + u.line : '') : '';
  out.push(el('dl', { class: 'facts' },
    ...(u.func && u.func !== u.name ? [el('dt', {}, 'function'), el('dd', {}, narrow('func', u.func))] : []),
    ...(place ? [el('dt', {}, 'file'), el('dd', {}, narrow('file', u.file), u.line ? ':' + u.line : '')] : []),
    ...(u.binary ? [el('dt', {}, 'binary'), el('dd', {}, narrow('binary', u.binary))] : []),
    ...index.sides.flatMap((s, i) => [el('dt', {}, compared ? (i ? 'before' : 'now') : 'data'), el('dd', {}, u.share[i].toFixed(1) + '% of the CPU time, ' + plural(u.samples[i], 'sample') + ', ' + plural(u.tried[i], 'experiment') + (u.set_aside[i] ? ', ' + u.set_aside[i] + ' discarded' : '')),
      ...(d && d.sides[i] && (d.sides[i].effects[0].estimate || []).length ? [el('dt', {}, 'estimates'), el('dd', { class: 'basis' }, (d.sides[i].effects[0].basis === 'both' ? '' : 'not tested: ') + s.recorded)] : []),
      ...(u.waits && u.waits[i] ? [el('dt', {}, compared ? (i ? 'waited before' : 'waits now') : 'waits'), el('dd', { class: 'waiting' }, u.waits[i] + ' of the time, added up over the threads')] : [])])));
  if (failed) out.push(el('p', { class: 'hopeless' }, failed));
  if (!d || d.sides.every(s => !s)) { if (!failed) out.push(el('p', { class: 'say untried' }, 'It was sampled, but never tried.')); }
  else {
    out.push(el('div', { class: 'sides' }, ...d.sides.map((s, i) => el('div', { 'data-side': i }, compared ? el('h3', {}, i ? 'Before: ' + index.sides[i].label : 'Now: ' + index.sides[i].label) : '', ...(s ? sideDetail(u, s, i) : [el('p', { class: 'muted' }, 'Not tried in this profile.')])))));
  }
  if (source) out.push(...sourcePane(u, source));
  return out;
};
const narrow = (key, value) => el('button', { type: 'button', class: 'plain', title: 'Show only units of this ' + key, onclick: () => set({ [key]: value, page: '', unit: wide.matches ? state.unit : '' }) }, value);
const shapeWords = e => {
  const reason = e.reason.replace('not enough data: ', '');
  if (reason) return e.words.includes(reason) ? '' : reason;
  if (!e.shape) return '';
  return 'shape: ' + e.shape + (e.shape_at ? ' at ' + e.shape_at + '%' : '');
};
const sideDetail = (u, s, i) => {
  const e0 = s.effects[0];
  const out = [el('p', { class: 'say ' + (e0.basis === 'none' && e0.refused && !u.tried[i] ? 'untried' : e0.verdict) }, e0.words), shapeWords(e0) ? el('p', { class: 'shape' }, shapeWords(e0)) : ''];
  const said = new Set();
  const doubts = [...u.warnings[i], ...s.effects.flatMap((e, n) => e.warnings.map(w => n && s.effects.length > 1 ? { ...w, text: e.metric + ': ' + w.text, of: w.text } : w))].filter(w => !said.has(w.of || w.text) && said.add(w.text));
  if (doubts.length) out.push(el('div', { class: 'detail-warnings' }, ...doubts.map(w => el('p', { class: 'careful', 'data-code': w.code }, '⚠ ' + w.text))));
  const names = { throughput: 'Less time per visit', latency: 'Less latency: mean', p50: 'Less latency: p50', p95: 'Less latency: p95', p99: 'Less latency: p99' };
  out.push(el('div', { class: s.effects.length > 1 ? 'sides' : '' }, ...s.effects.filter(hasCurve).map(e => curveFigure(u, i, e, names[e.metric] || e.metric, e !== e0))));
  if (s.effects.some(hasCurve)) out.push(fold('numbers', 'Numbers', ...s.effects.filter(hasCurve).map(e => numbers(e, names[e.metric]))));
  if (s.histogram) out.push(sized(el('figure', {}, el('figcaption', {}, e0.metric === 'throughput' ? 'Time per visit' : 'Latency', el('span', { class: 'muted' }, ' – line: experiments with this unit; grey: baselines')), drawing(s.histogram))));
  const timeline = rows && rows.timelines[i];
  if (timeline && s.experiments.length) {
    const t = drawing(timeline);
    t.querySelector('.own').setAttribute('d', s.ticks);
    out.push(sized(el('figure', {}, el('figcaption', {}, 'Baselines over time', el('span', { class: 'muted' }, ' – marks below: experiments with this unit')), t)));
  }
  if (s.experiments.length) out.push(fold('experiments', plural(s.experiments.length + s.more, 'experiment'), experiments(s)));
  return out;
};
// sized keeps a drawing near the size that it was made for, so that its letters are about as large as the page's.
const sized = figure => { figure.style.maxWidth = 1.2 * figure.querySelector('svg').viewBox.baseVal.width + 'px'; return figure; };
const hasCurve = e => e.curve.length > 0 || (e.estimate || []).length > 0; // otherwise the words say all
const fold = (name, title, ...content) => el('details', { 'data-name': name }, el('summary', {}, title), el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title }, ...content));
const head = (...names) => el('thead', {}, el('tr', {}, ...names.map(n => el('th', { scope: 'col' }, n))));
const gainWords = l => !l ? '–' : l.gain.toFixed(1) + (l.ci ? ' (' + l.ci[0].toFixed(1) + ' to ' + l.ci[1].toFixed(1) + ')' : '');
const numbers = (e, name) => {
  const estimate = e.estimate || [], speedups = [...new Set([...e.curve, ...estimate].map(l => l.speedup))].sort((a, b) => a - b);
  return el('table', { class: 'numbers' }, el('caption', {}, name || e.metric), head('speed-up', 'gain (95% interval)', 'alone', 'experiments', ...(estimate.length ? ['estimate'] : [])),
    el('tbody', {}, ...speedups.map(s => {
      const l = e.curve.find(l => l.speedup === s), x = estimate.find(l => l.speedup === s);
      return el('tr', {}, el('th', { scope: 'row' }, s + '%'), el('td', {}, l && !l.ci ? l.gain.toFixed(1) + ' (not known)' : gainWords(l)), el('td', {}, l && l.raw_gain != null ? l.raw_gain.toFixed(1) : '–'), el('td', {}, l ? String(l.experiments) : '–'), estimate.length ? el('td', {}, x ? '~' + gainWords(x) : '–') : null);
    })));
};
const experiments = s => el('table', { class: 'numbers' }, el('caption', { class: 'sr' }, 'The experiments with this unit'), head('run', 'no.', 'at', 'speed-up', 'visits', 'each', 'gain', 'discarded'),
  el('tbody', {}, ...s.experiments.map(([run, n, at, speedup, visits, period, gain, aside]) => el('tr', {}, el('td', {}, String(run)), el('td', {}, String(n)), el('td', {}, at.toFixed(2) + ' s'), el('td', {}, speedup + '%'), el('td', {}, String(visits)), el('td', {}, period || '–'), el('td', {}, gain == null ? '–' : gain.toFixed(1) + '%'), el('td', {}, aside))),
    s.more ? el('tr', {}, el('td', { colspan: 8 }, 'and ' + s.more + ' more')) : ''));

// The source around the line, with what is known of each line in the margin.
const sourcePane = (u, source) => {
  const out = [el('h3', {}, 'Source', el('span', { class: 'muted' }, ' ' + source.file))];
  if (source.note) out.push(el('p', { class: 'careful', id: 'source-note' }, source.note));
  const units = new Map();
  // A function has its place among the lines, too; a line comes before the function that begins there.
  for (const isLine of [true, false]) index.units.forEach((x, at) => { if (x.source === u.source && x.begin && (x.kind === 'line') === isLine && !units.has(x.begin)) units.set(x.begin, at); });
  const line = u.begin || (u.kind !== 'func' && units.size ? [...units.entries()].sort((a, b) => a[1] - b[1])[0][0] : 0);
  if (!line && !source.note) return out.concat(el('p', { class: 'muted' }, 'The profile does not say where in the file it begins.'));
  const part = source.parts.find(p => line >= p.from && line < p.from + p.lines.length);
  if (!part) return source.parts.length ? out.concat(el('p', { class: 'muted' }, 'The file has no line ' + line + '.')) : out;
  const lo = u.kind === 'line' ? Math.max(part.from, line - 12) : u.kind === 'func' ? line : part.from, hi = Math.min(part.from + part.lines.length - 1, u.kind === 'line' ? line + 12 : lo + 60);
  const trs = [];
  for (let n = lo; n <= hi; n++) {
    const at = units.get(n), x = at != null ? index.units[at] : null, r = x && rows && rows.rows[0][at];
    trs.push(el('tr', n === u.begin ? { class: 'this', 'aria-current': 'true' } : {},
      el('td', { class: 'margin' }, x ? x.share[0].toFixed(1) + '%' : ''),
      el('td', { class: 'margin' }, x ? el('a', { class: verdictOf(at), href: linkTo(x), title: r ? r.words : 'not tried' }, r ? r.few ? 'too few' : r.cells[1] : 'not tried') : ''),
      el('td', { class: 'at' }, String(n)), el('td', { class: 'code' }, part.lines[n - part.from])));
  }
  out.push(el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Source of ' + source.file },
    el('table', { class: 'source' }, el('caption', { class: 'sr' }, 'Source lines with share of time, gain at 50% and line number'), el('thead', { class: 'sr' }, el('tr', {}, ...['share', 'gain at 50%', 'line', 'source'].map(n => el('th', { scope: 'col' }, n)))), el('tbody', {}, ...trs))));
  return out;
};
const back = () => { const id = state.unit; set({ unit: '' }); (linkOf(id) || $('list')).focus(); };
const linkOf = id => { const tr = rowOf(id); return state.show === 'map' ? spotOf(id) : tr && tr.querySelector('a'); };
