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
