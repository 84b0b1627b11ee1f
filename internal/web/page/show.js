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
