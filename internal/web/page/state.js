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
