'use strict';
// The page's own script. The drawings and the words come from whatif; this filters,
// sorts, and shows them. What is shown is in the address behind the #, and nowhere else.
(() => {
  const $ = id => document.getElementById(id);
  const rowsAPage = 100;

  // el makes an element. Text is set as text, never as markup.
  const el = (tag, attributes = {}, ...children) => {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === 'class') e.className = value;
      else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
      else if (value === true) e.setAttribute(name, '');
      else if (value !== false && value != null) e.setAttribute(name, value);
    }
    e.append(...children.filter(c => c != null && c !== ''));
    return e;
  };
  const text = (e, s) => { if (e.textContent !== s) e.textContent = s; };
  const drawing = svg => { // made by whatif, with all text escaped
    const t = document.createElement('template');
    t.innerHTML = svg;
    return t.content;
  };
  const plural = (n, noun) => n.toLocaleString('en') + ' ' + noun + (n === 1 ? '' : 's');

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

  // State is what the address says.
  const defaults = { view: '', unit: '', q: '', file: '', func: '', binary: '', verdict: '', min: '', sort: '', down: '', page: '', show: '' };
  let state = { ...defaults };
  const readAddress = () => {
    state = { ...defaults };
    for (const [k, v] of new URLSearchParams(location.hash.slice(1))) if (k in defaults) state[k] = v;
  };
  const set = (patch, push = false) => {
    Object.assign(state, patch);
    const p = new URLSearchParams();
    for (const k in defaults) if (state[k] !== '') p.set(k, state[k]);
    const to = '#' + p;
    if (to !== location.hash && !(to === '#' && !location.hash)) history[push ? 'pushState' : 'replaceState'](null, '', to === '#' ? location.pathname : to);
    show();
  };
  const viewPlace = () => Math.max(0, index.views.findIndex(v => v.id === state.view));
  const view = () => index.views[viewPlace()];
  const wide = matchMedia('(min-width: 1180px)');
  const chosen = () => {
    if (known.has(state.unit)) return known.get(state.unit);
    if (state.unit || !wide.matches || !view()) return -1;
    const first = view().answers[0].unit;
    return first >= 0 ? first : visible.length ? visible[0] : -1;
  };

  // The table.
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
  const linkTo = u => '#' + new URLSearchParams({ ...(state.view && { view: state.view }), ...(state.show && { show: state.show }), unit: u.id });
  // A unit's verdict says what to do, not what it is: it was not faster before.
  const wasWords = { faster: 'was worth optimizing', none: 'had no effect', slower: 'backfired', unsure: 'was unclear' };
  const makeRow = at => {
    const u = index.units[at], r = rows && rows.rows[0][at], b = rows && rows.rows[1] && rows.rows[1][at], compared = index.sides.length > 1;
    const was = s => compared ? s : null, beside = [u.beside, u.was ? 'before: ' + u.was : ''].filter(Boolean).join(', ');
    const names = [el('a', { href: linkTo(u), title: u.file ? u.file + (u.line ? ':' + u.line : '') : u.binary }, u.name), beside ? el('span', { class: 'muted', title: beside }, beside) : null];
    const tr = el('tr', { 'data-unit': u.id },
      el('td', { class: 'c-rank' }, String(at + 1)),
      el('th', { class: 'unit c-unit', scope: 'row', abbr: u.name }, ...(u.text ? [el('span', { class: 'name' }, ...names), el('code', { class: 'text', title: u.text }, u.text)] : names)),
      el('td', { class: 'c-share' }, ...cell(u.share[0].toFixed(1) + '%', was(compared ? u.share[1].toFixed(1) + '%' : null)), waits(u)),
      el('td', { class: 'c-curve' }, r ? spark(r) : null),
      ...(view() ? view().columns : []).map((_, i) => el('td', { class: 'c-gain c-g' + i }, ...(r ? gainCell(r.cells[i]) : ['–']), compared ? el('span', { class: 'was' }, 'was ' + (b ? b.cells[i].split('±')[0] : '–')) : null)),
      el('td', { class: 'c-verdict ' + verdictOf(at), title: r ? r.words : 'sampled, but never tried' }, r ? (!r.visited ? 'never visited' : labels[verdictOf(at)]) : 'not tried', r ? warnings([...r.warnings, ...u.warnings[0]]) : null, r && (r.basis === 'estimated' || r.refused) ? el('span', { class: 'was' }, r.refused ? 'no estimate' : 'estimated') : null,
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

  // What stands above and below the table.
  const showTop = () => {
    const v = view(), s = index.sides[0];
    text($('title'), index.title);
    document.title = index.title + ' – whatif';
    const m = s.summary, aside = Object.values(m.set_aside).reduce((a, b) => a + b, 0), run = s.runs[0];
    text($('measured'), [run ? run.host : '', ...(m.seconds || !s.recorded ? ['measured ' + m.seconds.toFixed(1) + ' s', plural(m.experiments, 'experiment') + ', ' + plural(m.baselines, 'baseline') + (aside ? ', ' + aside + ' discarded' : '')] : []), s.recorded, s.label].filter(Boolean).join(' · '));
    $('live').hidden = !index.live;
    // The level of confidence has a few words for each doubt; all of a doubt is there on demand.
    // A run's doubt ends with its reason: one of the two is said, and that is the reason where it leaves no answer.
    const doubts = index.sides.flatMap((side, i) => {
      const doubt = side.summary.doubt, warnings = [...side.warnings, ...(v ? v.warnings[i] : [])].filter(w => w.level);
      const reason = doubt && warnings.find(w => doubt.endsWith(w.text));
      const said = !doubt || reason && reason.level === 'hopeless' ? warnings : [...warnings.filter(w => w !== reason), { level: 'careful', code: 'doubt', text: doubt }];
      return said.map(w => [w, i]);
    });
    doubts.sort(([a], [b]) => (b.level === 'hopeless') - (a.level === 'hopeless'));
    const side = i => index.sides.length > 1 ? ' (' + (i ? 'before' : 'now') + ')' : '';
    const say = ([w, i], tag, ...behind) => el(tag, { class: w.level, 'data-code': w.code }, el('b', {}, (w.level === 'hopeless' ? index.live ? 'No answer yet' : 'No answer' : 'With care') + side(i) + ': '), w.text, ...behind);
    // Of several that are only to be read with care one is shown, and the others on demand: the answer comes first.
    const isHopeless = ([w]) => w.level === 'hopeless';
    const careful = i => doubts.filter(d => !isHopeless(d) && d[1] === i);
    $('first').replaceChildren(...doubts.filter(isHopeless).map(d => say(d, 'p')), ...index.sides.flatMap((s, i) => {
      const all = careful(i), rest = all.slice(1);
      if (!s.confidence) return rest.length ? [el('details', { class: 'careful' }, say(all[0], 'summary', el('span', { class: 'muted' }, ', and ' + rest.length + ' more')), ...rest.map(d => say(d, 'p')))] : all.map(d => say(d, 'p'));
      const chip = [el('span', { class: 'confidence ' + s.confidence }, 'Confidence' + side(i) + ': ' + s.confidence), s.why.length ? ' ' + s.why.join(', ') : ''];
      return [all.length ? el('details', { class: 'sure' }, el('summary', {}, ...chip), ...all.map(d => say(d, 'p'))) : el('p', { class: 'sure' }, ...chip)];
    }));
    $('first').hidden = !$('first').children.length;
    $('changes').hidden = !index.changes;
    $('changes').replaceChildren(...(index.changes || []).flatMap(c => [c.head ? el('h2', {}, c.head.charAt(0).toUpperCase() + c.head.slice(1)) : null, c.head ? el('ul', {}, ...c.lines.map(l => el('li', {}, l))) : c.lines.map(l => el('p', { class: 'say' }, l))].flat().filter(Boolean)));
    // What is hopeless has been said.
    const answers = (v ? v.answers : []).map((a, i) => a.kind === 'hopeless' ? null : sayAnswer(a, i)).filter(Boolean);
    $('answer').replaceChildren(...answers);
    $('answer').hidden = !answers.length;
    const select = $('view');
    $('view-label').hidden = index.views.length < 2;
    if (select.options.length !== index.views.length) select.replaceChildren(...index.views.map(v => el('option', { value: v.id }, v.title)));
    select.value = v ? v.id : '';
    document.body.classList.toggle('compared', index.sides.length > 1);
    document.body.classList.toggle('with-waits', index.units.some(u => u.waits));
    document.body.classList.toggle('with-latency', Boolean(v && v.columns[0] === 'mean'));
    const minor = v ? v.warnings[0].filter(w => !w.level) : [];
    $('facts').replaceChildren(v ? v.facts[0] + '. ' : '', v ? v.about.charAt(0).toUpperCase() + v.about.slice(1) + '.' : '', warnings(minor) || '');
    for (const [id, key] of [['search', 'q'], ['file', 'file'], ['func', 'func'], ['binary', 'binary'], ['min', 'min']]) if ($(id).value !== state[key] && document.activeElement !== $(id)) $(id).value = state[key];
    if (state.file || state.func || state.binary || state.min) $('more').open = true;
  };
  const sayAnswer = (a, i) => {
    const compared = index.sides.length > 1;
    const u = index.units[a.unit];
    const before = i ? el('span', { class: 'muted' }, 'Before: ') : null;
    const name = u && el('a', { href: linkTo(u) }, u.name);
    const say = a.kind === 'faster'
      ? [before, 'Make ', name, ' faster', el('span', { class: 'muted' }, '  ' + [u.beside, index.views.length > 1 ? view().title : ''].filter(Boolean).join(' · '))]
      : [before, a.text, u ? ' ' : null, u ? name : null];
    return el('div', { class: a.kind + (i ? ' before' : '') }, el('p', { class: 'say' }, ...say.filter(Boolean)),
      u && u.text ? el('p', {}, el('code', { class: 'text' }, u.text)) : '',
      a.gains.length ? el('ul', {}, ...a.gains.map(([if_, then]) => el('li', {}, if_ + ' →', el('b', {}, a.estimated ? '~' : '', then)))) : '',
      a.estimated ? el('p', { class: 'muted' }, 'That is an estimate: ' + index.sides[i].recorded + '. whatif run -t ' + u.name + ' tests it.') : '');
  };
  const showAbout = () => {
    const parts = [];
    index.sides.forEach((s, i) => {
      parts.push(el('h3', {}, index.sides.length > 1 ? (i ? 'Before: ' : 'Now: ') + s.label : 'What was measured'));
      parts.push(el('dl', { class: 'facts' },
        ...s.runs.flatMap((r, n) => [el('dt', {}, s.runs.length > 1 ? 'run ' + (n + 1) : 'run'), el('dd', {}, r.args.join(' ') + ' · ' + plural(r.experiments, 'experiment') + ' · ' + r.host + ', ' + plural(r.cpus, 'CPU') + (r.cpu_model ? ' ' + r.cpu_model : '') + ', Linux ' + r.kernel + ' · ' + r.started + (r.status === null ? index.live ? '' : ' · was killed' : ' · exit status ' + r.status)), ...Object.entries(r.build_ids || {}).sort().flatMap(([file, id]) => [el('dt', {}, 'build'), el('dd', {}, id + ' of ' + file)])]),
        ...s.points.flatMap(p => [el('dt', {}, 'point'), el('dd', {}, p.name + ' (' + p.kind + '): ' + plural(p.visits, 'visit') + (p.visits ? '' : ' – never visited'), warnings(p.warnings))]),
        ...s.latencies.flatMap(l => [el('dt', {}, 'latency'), el('dd', {}, l.name + ', from ' + l.begin + ': ' + plural(l.matched, 'measured request'), warnings(l.warnings))]),
        el('dt', {}, 'delays'), el('dd', {}, s.summary.delay.toFixed(0) + '% of the time; whatif itself took ' + s.summary.own_cpu.toFixed(1) + '% of a core'),
        ...Object.entries(s.summary.set_aside).flatMap(([why, n]) => [el('dt', {}, 'discarded'), el('dd', {}, n + ': ' + why)])));
      const minor = s.warnings.filter(w => !w.level);
      if (minor.length) parts.push(el('h3', {}, 'Notes'), el('ul', {}, ...minor.map(w => el('li', {}, w.text))));
    });
    $('about').replaceChildren(...parts);
  };

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
    const out = [el('div', { class: 'top' }, el('h2', {}, u.name), el('button', { type: 'button', class: 'back', onclick: back }, state.show === 'map' ? 'Back to the map' : 'Back to the table'))];
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
    if (e.reason) return e.words.includes(e.reason) ? '' : e.reason;
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
  const hasCurve = e => e.experiments > 0 || !e.refused; // otherwise the reason says all
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
    index.units.forEach((x, at) => { if (x.source === u.source && x.line && !units.has(x.line)) units.set(x.line, at); });
    const line = u.line || (units.size ? [...units.entries()].sort((a, b) => a[1] - b[1])[0][0] : 0);
    const part = source.parts.find(p => line >= p.from && line < p.from + p.lines.length);
    if (!part) return source.parts.length ? out.concat(el('p', { class: 'muted' }, 'The file has no line ' + line + '.')) : out;
    const lo = u.kind === 'line' ? Math.max(part.from, line - 12) : part.from, hi = Math.min(part.from + part.lines.length - 1, u.kind === 'line' ? line + 12 : lo + 60);
    const trs = [];
    for (let n = lo; n <= hi; n++) {
      const at = units.get(n), x = at != null ? index.units[at] : null, r = x && rows && rows.rows[0][at];
      trs.push(el('tr', n === u.line ? { class: 'this', 'aria-current': 'true' } : {},
        el('td', { class: 'margin' }, x ? x.share[0].toFixed(1) + '%' : ''),
        el('td', { class: 'margin' }, x ? el('a', { class: verdictOf(at), href: linkTo(x), title: r ? r.words : 'not tried' }, r ? r.cells[1] : 'not tried') : ''),
        el('td', { class: 'at' }, String(n)), el('td', { class: 'code' }, part.lines[n - part.from])));
    }
    out.push(el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Source of ' + source.file },
      el('table', { class: 'source' }, el('caption', { class: 'sr' }, 'Source lines with share of time, gain at 50% and line number'), el('thead', { class: 'sr' }, el('tr', {}, ...['share', 'gain at 50%', 'line', 'source'].map(n => el('th', { scope: 'col' }, n)))), el('tbody', {}, ...trs))));
    return out;
  };
  const back = () => { const id = state.unit; set({ unit: '' }); (linkOf(id) || $('list')).focus(); };
  const linkOf = id => { const tr = rowOf(id); return state.show === 'map' ? spotOf(id) : tr && tr.querySelector('a'); };

  // What a curve says at a speed-up: a control below it, the pointer, or a finger chooses the speed-up, for all curves.
  let supposed = 50;
  const between = (levels, s) => { // a straight line between neighbours
    const b = levels.find(l => l.speedup >= s), a = levels.findLast(l => l.speedup <= s);
    if (!a || !b) return null;
    const part = a === b ? 0 : (s - a.speedup) / (b.speedup - a.speedup), mix = (x, y) => x + part * (y - x);
    return { gain: mix(a.gain, b.gain), ci: a.ci && b.ci ? [mix(a.ci[0], b.ci[0]), mix(a.ci[1], b.ci[1])] : b.ci && !a.speedup ? b.ci.map(x => part * x) : null };
  };
  const origin = { speedup: 0, gain: 0, ci: [0, 0] };
  const gainAt = (e, s) => {
    const tested = e.curve.length > 1 ? between(e.curve, s) : null, estimate = e.estimate && e.estimate.length ? between([origin, ...e.estimate], s) : null;
    return { tested, estimate, best: tested || estimate };
  };
  const svgElement = (tag, attributes) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    return e;
  };
  const curveFigure = (u, i, e, name, isOther) => {
    const plot = drawing(e.chart), svg = plot.querySelector('svg');
    const [left, right, bottom, top, low, high] = svg.dataset.frame.split(' ').map(Number);
    const control = el('input', { type: 'range', min: 0, max: 100, step: 1, class: 'suppose', 'aria-label': name + ', if ' + u.name + ' took so much less time' });
    const says = el('p', { class: 'says' }), cross = svgElement('path', { class: 'cross' }), spot = svgElement('circle', { class: 'cross-at', r: 4.5 });
    const clamp = (x, lo, hi) => Math.min(hi, Math.max(lo, x));
    const figure = el('figure', { class: 'of-curve' }, el('figcaption', {}, name, isOther ? el('span', { class: 'muted' }, ' ' + labels[e.verdict]) : '', e.estimate && e.estimate.length ? el('span', { class: 'muted' }, ' – dashed: estimate') : ''), plot);
    if (!gainAt(e, 0).best) return sized(figure);
    const move = s => {
      const { tested, estimate, best } = gainAt(e, s), less = e.metric === 'throughput' ? '% less time per visit' : '% less latency';
      control.value = s;
      const words = ['At ' + s + '%: '];
      if (!best) words.push('not tried');
      else {
        const isBound = best.ci && (tested ? e.bound : e.estimate_bound);
        if (isBound) words.push('at most ' + best.ci[1].toFixed(1) + less);
        else words.push((tested ? '' : '~') + best.gain.toFixed(1) + less + (best.ci ? ' (' + best.ci[0].toFixed(1) + ' to ' + best.ci[1].toFixed(1) + ')' : ''));
        if (e.metric === 'throughput' && best.gain < 99 && !isBound) words.push(', ' + (100 / (100 - best.gain)).toFixed(2) + ' times as fast');
        if (tested && estimate) words.push('. Estimate: ~' + gainWords(estimate));
        if (e.metric === 'throughput') words.push('. A profiler would expect ' + (u.share[i] * s / 100).toFixed(1) + '%');
      }
      text(says, words.join(''));
      control.setAttribute('aria-valuetext', says.textContent.replaceAll('~', 'estimated '));
      const x = left + (right - left) * s / 100, y = best && clamp(bottom - (best.gain - low) / (high - low) * (bottom - top), top, bottom);
      cross.setAttribute('d', 'M' + x + ' ' + bottom + 'V' + top + (best ? 'M' + left + ' ' + y + 'H' + right : ''));
      spot.setAttribute('visibility', best ? 'visible' : 'hidden');
      if (best) { spot.setAttribute('cx', x); spot.setAttribute('cy', y); }
    };
    const choose = s => { supposed = s; for (const f of document.querySelectorAll('.of-curve')) if (f.move) f.move(s); };
    sized(figure);
    figure.move = move;
    control.addEventListener('input', () => choose(Number(control.value)));
    const point = ev => {
      const box = svg.getBoundingClientRect();
      choose(Math.round(clamp(((ev.clientX - box.left) / box.width * svg.viewBox.baseVal.width - left) / (right - left) * 100, 0, 100)));
    };
    svg.addEventListener('pointermove', point);
    svg.addEventListener('pointerdown', point);
    svg.append(cross, spot);
    control.style.marginLeft = 'calc(' + left / svg.viewBox.baseVal.width * 100 + '% - 8px)';
    control.style.width = 'calc(' + (right - left) / svg.viewBox.baseVal.width * 100 + '% + 16px)';
    figure.append(el('div', { class: 'plot' }, control), el('div', { class: 'below' }, says, pngButton(svg, u.name + ': ' + name.charAt(0).toLowerCase() + name.slice(1))));
    move(supposed);
    return figure;
  };

  // The map of share against gain. One of its spots can be reached by Tab, the others from there by the arrow keys.
  const small = matchMedia('(max-width: 720px)');
  const spots = () => [...$('map').querySelectorAll('a.spot')];
  const unitOf = a => new URLSearchParams(a.getAttribute('href').slice(1)).get('unit');
  const spotOf = id => spots().find(a => unitOf(a) === id);
  let mapped = ''; // what the map shows: version, view and size
  const showMap = () => {
    const on = state.show === 'map' && rows !== null;
    $('map').hidden = !on;
    $('units').hidden = on;
    if (on) $('pages').hidden = true;
    $('as-map').setAttribute('aria-pressed', on);
    $('as-table').setAttribute('aria-pressed', !on);
    if (!on) return;
    const key = [index.version, viewPlace(), small.matches].join(' ');
    if (key !== mapped) {
      mapped = key;
      const plot = drawing(rows.maps[small.matches ? 1 : 0]), svg = plot.querySelector('svg');
      svg.append(svgElement('path', { class: 'cross' }));
      $('map').replaceChildren(el('figcaption', {}, view().columns[0] === 'mean' ? 'Less mean latency' : 'Less time per visit', ', if code were 50% faster', el('span', { class: 'muted' }, ' – click a circle, or go to it with the arrow keys; open circles are estimates')),
        plot, el('div', { class: 'below' }, el('p', { class: 'says' }), pngButton(svg, index.title + ': ' + view().title)));
    }
    const seen = new Set(visible.map(at => index.units[at].id));
    for (const a of spots()) a.classList.toggle('dim', !seen.has(unitOf(a)));
    chooseSpot(chosen());
  };
  const chooseSpot = at => {
    const all = spots(), a = at >= 0 && all.find(a => unitOf(a) === index.units[at].id);
    for (const x of all) { x.toggleAttribute('aria-current', false); x.setAttribute('tabindex', -1); }
    if (a) a.setAttribute('aria-current', 'true');
    if (a || all[0]) (a || all[0]).setAttribute('tabindex', 0);
    lookAt(a);
  };
  // lookAt draws the cross at a spot, and says where it is.
  const lookAt = a => {
    const cross = $('map').querySelector('.cross');
    if (!cross) return;
    const mark = a && a.querySelector('.mark'), box = cross.ownerSVGElement.viewBox.baseVal;
    cross.setAttribute('d', mark ? 'M40 ' + mark.getAttribute('cy') + 'H' + (box.width - 20) + 'M' + mark.getAttribute('cx') + ' 10V' + (box.height - 34) : '');
    text($('map').querySelector('.says'), a ? a.getAttribute('aria-label') : '');
  };
  for (const event of ['pointerover', 'focusin']) $('map').addEventListener(event, e => { const a = e.target.closest('a.spot'); if (a) lookAt(a); });
  $('map').addEventListener('pointerleave', () => { const a = document.activeElement.closest('a.spot') || spots().find(a => a.getAttribute('aria-current')); lookAt(a); });
  $('map').addEventListener('keydown', e => {
    const a = e.target.closest('a.spot'), axis = { ArrowLeft: ['cx', -1], ArrowRight: ['cx', 1], ArrowUp: ['cy', -1], ArrowDown: ['cy', 1] }[e.key];
    if (!a || !axis) return;
    e.preventDefault();
    const place = x => Number(x.querySelector('.mark').getAttribute(axis[0]));
    const all = spots().sort((x, y) => place(x) - place(y)), to = all[all.indexOf(a) + axis[1]];
    if (!to) return;
    for (const x of all) x.setAttribute('tabindex', x === to ? 0 : -1);
    to.focus();
  });

  // What can be taken along: a table in Markdown or CSV, a drawing as PNG.
  const download = (blob, name) => {
    const a = el('a', { href: URL.createObjectURL(blob), download: name });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
  };
  const fileName = s => s.replace(/[^A-Za-z0-9.]+/g, '-').replace(/^[-.]+|-+$/g, '').slice(0, 80) || 'whatif';
  const looks = ['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'paint-order', 'vector-effect', 'font-family', 'font-size', 'font-weight', 'visibility', 'opacity'];
  const png = async (svg, title) => {
    const { width, height } = svg.viewBox.baseVal, head = 30, scale = 2;
    const copy = svg.cloneNode(true), all = [...copy.querySelectorAll('*')];
    // A picture has no style sheet: each element gets the looks that it has on the page, so the picture is light or dark as the page is.
    [...svg.querySelectorAll('*')].forEach((e, i) => { const s = getComputedStyle(e); for (const p of looks) all[i].setAttribute(p, s.getPropertyValue(p)); });
    for (const [name, value] of Object.entries({ width: width * scale, height: (height + head) * scale, viewBox: [0, -head, width, height + head].join(' ') })) copy.setAttribute(name, value);
    const body = getComputedStyle(document.body), caption = svgElement('text', { x: 10, y: 18 - head, fill: body.color, 'font-family': body.fontFamily, 'font-size': 13, 'font-weight': 600 });
    caption.textContent = title;
    copy.prepend(svgElement('rect', { x: 0, y: -head, width, height: height + head, fill: getComputedStyle($('list')).backgroundColor }), caption);
    const image = new Image();
    image.src = 'data:image/svg+xml,' + encodeURIComponent(new XMLSerializer().serializeToString(copy));
    await image.decode();
    const canvas = el('canvas', { width: width * scale, height: (height + head) * scale });
    canvas.getContext('2d').drawImage(image, 0, 0);
    return new Promise(done => canvas.toBlob(done, 'image/png'));
  };
  const pngButton = (svg, title) => el('button', { type: 'button', class: 'plain', 'aria-label': 'Download as PNG: ' + title, onclick: async () => {
    try { download(await png(svg, title), fileName(title) + '.png'); } catch (e) { say('No picture could be made: ' + e.message); }
  } }, 'PNG');
  // Backticks in a name need a longer fence around it, and a bar would end the cell.
  const code = s => { const fence = '`'.repeat(Math.max(0, ...(s.match(/`+/g) || []).map(x => x.length)) + 1), gap = /^`|`$/.test(s) ? ' ' : ''; return fence + gap + s.replaceAll('|', '\\|') + gap + fence; };
  const verdictWords = at => { const r = rows && rows.rows[0][at]; return labels[verdictOf(at)] + (r && r.basis === 'estimated' ? ' (estimated)' : ''); };
  const markdown = () => {
    const most = 20, v = view(), s = index.sides[0], here = visible.slice(0, most), columns = v ? v.columns : [], hasText = here.some(at => index.units[at].text);
    const line = cells => '| ' + cells.join(' | ') + ' |';
    const head = ['#', 'unit', ...(hasText ? ['source'] : []), 'share', ...columns, 'verdict'];
    const out = ['**' + code(index.title) + '**' + (v ? ': ' + code(v.title) + '. ' + v.about : ''), '', line(head), line(head.map((_, i) => i && i < head.length - columns.length - 2 || i === head.length - 1 ? '---' : '---:'))];
    for (const at of here) {
      const u = index.units[at], r = rows && rows.rows[0][at];
      out.push(line([at + 1, code(u.name) + (u.beside ? ' ' + code(u.beside) : ''), ...(hasText ? [u.text ? code(u.text) : ''] : []), u.share[0].toFixed(1) + '%', ...columns.map((_, i) => r ? r.cells[i] : '–'), verdictWords(at)]));
    }
    if (visible.length > most) out.push('', 'and ' + plural(visible.length - most, 'unit') + ' more');
    out.push('', [$('measured').textContent, s.confidence ? 'confidence: ' + [s.confidence, ...s.why].join(', ').replace(',', ':') : '', s.recorded ? '~ is estimated: ' + s.recorded : ''].filter(Boolean).map(x => x.replace(/[\\`*_~<>|[\]]/g, '\\$&')).join('; '), '', $('product').textContent);
    return out.join('\n') + '\n';
  };
  // A spreadsheet takes a cell that begins with =, +, - or @ for a formula; an apostrophe tells it that it is text.
  const csv = () => {
    const columns = view() ? view().columns : [];
    const quote = x => typeof x === 'string' ? '"' + (/^[=+\-@\t\r]/.test(x) ? "'" : '') + x.replaceAll('"', '""') + '"' : x == null ? '' : String(x);
    const lines = [['rank', 'unit', 'kind', 'function', 'file', 'line', 'binary', 'source', 'share', 'samples', 'waits', 'experiments', 'basis', 'verdict', 'reason', ...columns.flatMap(c => [c, c + ', half of the interval'])]];
    for (const at of visible) {
      const u = index.units[at], r = rows && rows.rows[0][at];
      lines.push([at + 1, u.name, u.kind, u.func || '', u.file || '', u.line || null, u.binary || '', u.text || '', u.share[0], u.samples[0], u.waits && u.waits[0] || '', u.tried[0], r ? r.basis : 'none', labels[verdictOf(at)], r ? r.words : '',
        ...columns.flatMap((_, i) => r && r.values[i] != null ? [r.values[i], Number.parseFloat(r.cells[i].split('±')[1])].map(x => Number.isFinite(x) ? x : null) : [null, null])]);
    }
    return lines.map(l => l.map(quote).join(',') + '\r\n').join('');
  };

  // show brings the page to what the state says.
  let painted = '';
  const show = async () => {
    const v = viewPlace();
    if (rowsOf !== v && index.views.length) {
      let r;
      try { r = await load('rows-' + v); } catch (e) { say('That cannot be fetched: whatif has ended.'); return; }
      if (viewPlace() !== v) return;
      rows = r;
      rowsOf = v;
    }
    const { unit, ...table } = state;
    const key = index.version + JSON.stringify(table);
    if (key !== painted) { painted = key; showTop(); showTable(); }
    await showDetail();
    document.documentElement.dataset.ready = index.version + ' ' + location.hash;
  };

  const say = s => { $('said').textContent = s; clearTimeout(say.timer); say.timer = setTimeout(() => { $('said').textContent = ''; }, 2500); };
  const copy = async () => {
    // What is chosen by itself becomes part of the link.
    const at = chosen();
    if (!state.unit && at >= 0) set({ unit: index.units[at].id });
    toClipboard(location.href, 'Link copied');
  };
  const toClipboard = async (s, done) => {
    try { await navigator.clipboard.writeText(s); say(done); } catch (e) {
      $('link-text').value = s;
      $('link').showModal();
      $('link-text').select();
    }
  };

  // What the user does.
  $('view').addEventListener('change', e => set({ view: e.target.value, page: '', verdict: '' }, true));
  for (const [id, key] of [['search', 'q'], ['file', 'file'], ['func', 'func'], ['binary', 'binary'], ['min', 'min']]) $(id).addEventListener('input', e => set({ [key]: e.target.value, page: '' }));
  $('filters').addEventListener('submit', e => e.preventDefault());
  $('clear').addEventListener('click', () => { for (const id of ['search', 'file', 'func', 'binary', 'min']) $(id).value = ''; set({ q: '', file: '', func: '', binary: '', verdict: '', min: '', page: '' }); });
  $('verdicts').addEventListener('click', e => {
    const b = e.target.closest('[data-verdict]');
    if (!b) return;
    const wanted = new Set(state.verdict ? state.verdict.split(',') : []);
    if (!wanted.delete(b.dataset.verdict)) wanted.add(b.dataset.verdict);
    set({ verdict: verdicts.filter(v => wanted.has(v)).join(','), page: '' });
  });
  const sortBy = id => set(id === (state.sort || 'rank') ? { down: state.down === '1' ? '' : '1', page: '' } : { sort: id === 'rank' ? '' : id, down: '', page: '' });
  $('order').addEventListener('change', e => set({ sort: e.target.value === 'rank' ? '' : e.target.value, down: '', page: '' }));
  $('heads').addEventListener('click', e => { const b = e.target.closest('[data-sort]'); if (b) sortBy(b.dataset.sort); });
  $('body').addEventListener('click', e => {
    const tr = e.target.closest('tr');
    if (!tr || e.ctrlKey || e.metaKey || e.shiftKey || String(getSelection())) return;
    e.preventDefault();
    choose(tr.dataset.unit);
  });
  const choose = id => { set({ unit: id }, true); if (!wide.matches) { scrollTo(0, 0); $('detail').focus({ preventScroll: true }); } };
  // Links to other units keep what is filtered.
  document.addEventListener('click', e => {
    const a = e.target.closest('a[href^="#"]');
    if (!a || e.defaultPrevented || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    if (a.id === 'skip') { $('list').focus(); return; }
    choose(new URLSearchParams(a.getAttribute('href').slice(1)).get('unit') || '');
  });
  const turn = by => {
    const page = (Number(state.page) || 1) + by;
    if (page >= 1 && page <= Math.ceil(visible.length / rowsAPage)) { set({ page: page > 1 ? String(page) : '' }); $('list').scrollIntoView(); }
  };
  $('previous').addEventListener('click', () => turn(-1));
  $('next').addEventListener('click', () => turn(1));
  $('copy').addEventListener('click', copy);
  const showAs = how => { if (state.show !== how) set({ show: how }, true); };
  $('as-table').addEventListener('click', () => showAs(''));
  $('as-map').addEventListener('click', () => showAs('map'));
  $('markdown').addEventListener('click', () => toClipboard(markdown(), 'Copied: ' + plural(Math.min(20, visible.length), 'row')));
  $('csv').addEventListener('click', () => download(new Blob([csv()], { type: 'text/csv' }), fileName(index.title) + '.csv'));
  $('help-button').addEventListener('click', () => $('help').showModal());
  for (const [input, list, key] of [['file', 'files', 'file'], ['func', 'funcs', 'func'], ['binary', 'binaries', 'binary']]) {
    // Suggestions are made when they are wanted; some hundred are all that a list can show.
    $(input).addEventListener('focus', () => $(list).replaceChildren(...[...new Set(index.units.map(u => u[key]).filter(Boolean))].slice(0, 300).map(v => el('option', { value: v }))));
  }
  const step = by => {
    const now = visible.indexOf(chosen()), at = visible[Math.min(visible.length - 1, Math.max(0, now + by))];
    if (at == null) return;
    const page = Math.floor(visible.indexOf(at) / rowsAPage) + 1;
    set({ unit: index.units[at].id, page: page > 1 ? String(page) : '' });
    const link = linkOf(index.units[at].id), tr = link && link.closest('tr');
    if (tr) tr.scrollIntoView({ block: 'nearest' });
    if (link) link.focus({ preventScroll: Boolean(tr) });
  };
  const keys = {
    j: () => step(1), k: () => step(-1), '/': () => $('search').focus(), '?': () => $('help').showModal(), c: copy,
    '[': () => turn(-1), ']': () => turn(1), v: () => { if (index.views.length > 1) set({ view: index.views[(viewPlace() + 1) % index.views.length].id, page: '', verdict: '' }, true); },
    s: () => { const c = columns().filter(c => c.id), i = c.findIndex(c => c.id === (state.sort || 'rank')); sortBy(c[(i + 1) % c.length].id); },
    S: () => sortBy(state.sort || 'rank'),
    m: () => showAs(state.show === 'map' ? '' : 'map'),
    Enter: () => {
      const tr = document.activeElement.closest('#body tr'), at = tr ? known.get(tr.dataset.unit) : chosen();
      if (at >= 0) { set({ unit: index.units[at].id }, true); $('detail').hidden = false; $('detail').focus(); }
    },
    Escape: () => { if (state.unit) back(); },
  };
  // Who dictates, or hits a key by mistake, may not want letters to do something; that is the reader's, not the address's.
  const keysOff = 'whatif-single-keys-off';
  try { $('single-keys').checked = !localStorage.getItem(keysOff); } catch (e) { /* not kept for this page */ }
  $('single-keys').addEventListener('change', e => {
    try { if (e.target.checked) localStorage.removeItem(keysOff); else localStorage.setItem(keysOff, '1'); } catch (e) { /* until it is loaded anew, then */ }
  });
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
    const field = e.target.closest('input:not([type=range]), select, textarea');
    if (field) { if (e.key === 'Escape') { if (field.id === 'search') { field.value = ''; set({ q: '', page: '' }); } field.blur(); } return; }
    if (e.key === 'Enter' && e.target.closest('button, summary, a')) { if (!e.target.closest('#body a')) return; }
    const f = e.key.length > 1 || $('single-keys').checked ? keys[e.key] : null;
    if (f) { e.preventDefault(); f(); }
  });
  addEventListener('hashchange', () => { readAddress(); show(); });
  addEventListener('popstate', () => { readAddress(); show(); });
  wide.addEventListener('change', () => show());
  small.addEventListener('change', () => { if (state.show === 'map') showMap(); });

  // While a run goes on, ask for what is new.
  const follow = async () => {
    let answer;
    try { answer = await fetch('latest?version=' + index.version, { cache: 'no-store' }); } catch (e) { $('live').hidden = true; say('whatif has ended: this is the last that was seen'); return; }
    if (answer.status === 200) {
      // All that belongs together is exchanged at once.
      let fresh, its = null, place = 0;
      try {
        fresh = await answer.json();
        place = Math.max(0, fresh.views.findIndex(v => v.id === state.view));
        if (fresh.views.length) its = await (await fetch(fresh.version + '/rows-' + place, { cache: 'no-store' })).json();
      } catch (e) { setTimeout(follow, 1500); return; }
      for (const e of document.querySelectorAll('script[id^="data-"]')) e.remove(); // of the version before
      cache.clear();
      index = fresh;
      rows = its;
      rowsOf = place;
      learn();
      await show();
      showAbout();
    }
    if (index.live) setTimeout(follow, 1500);
  };

  learn();
  readAddress();
  show().then(() => {
    showAbout();
    performance.mark('whatif-first-view');
    if (index.live) setTimeout(follow, 1000);
  });
})();
