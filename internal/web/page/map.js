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
