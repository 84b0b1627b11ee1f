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
