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
// A program that whatif ended has not failed, and what was attached to goes on.
const ending = r => r.status === null ? index.live ? '' : ' · was killed' : r.ended_after ? ' · ended by whatif after ' + r.ended_after.toFixed(0) + ' s, as asked'
  : r.subject === 'attach' || r.subject === 'system' && !r.args.join('') ? '' : ' · exit status ' + r.status;
const showAbout = () => {
  const parts = [];
  index.sides.forEach((s, i) => {
    parts.push(el('h3', {}, index.sides.length > 1 ? (i ? 'Before: ' : 'Now: ') + s.label : 'What was measured'));
    parts.push(el('dl', { class: 'facts' },
      ...s.runs.flatMap((r, n) => [el('dt', {}, s.runs.length > 1 ? 'run ' + (n + 1) : 'run'), el('dd', {}, r.args.join(' ') + ' · ' + plural(r.experiments, 'experiment') + ' · ' + r.host + ', ' + plural(r.cpus, 'CPU') + (r.cpu_model ? ' ' + r.cpu_model : '') + ', Linux ' + r.kernel + (r.knobs ? ', really like ' + r.knobs.device + ' (' + r.knobs.text + ')' : '') + ' · ' + r.started + ending(r)), ...Object.entries(r.build_ids || {}).sort().flatMap(([file, id]) => [el('dt', {}, 'build'), el('dd', {}, id + ' of ' + file)])]),
      ...s.points.flatMap(p => [el('dt', {}, 'point'), el('dd', {}, p.name + ' (' + p.kind + '): ' + plural(p.visits, 'visit') + (p.visits ? '' : ' – never visited'), warnings(p.warnings))]),
      ...s.latencies.flatMap(l => [el('dt', {}, 'latency'), el('dd', {}, l.name + ', from ' + l.begin + ': ' + plural(l.matched, 'measured request'), warnings(l.warnings))]),
      el('dt', {}, 'delays'), el('dd', {}, s.summary.delay.toFixed(0) + '% of the time; whatif itself took ' + s.summary.own_cpu.toFixed(1) + '% of a core'),
      ...Object.entries(s.summary.set_aside).flatMap(([why, n]) => [el('dt', {}, 'discarded'), el('dd', {}, n + ': ' + why)])));
    const minor = s.warnings.filter(w => !w.level);
    if (minor.length) parts.push(el('h3', {}, 'Notes'), el('ul', {}, ...minor.map(w => el('li', {}, w.text))));
  });
  $('about').replaceChildren(...parts);
};
