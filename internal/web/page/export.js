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
const verdictWords = at => { const r = rows && rows.rows[0][at]; return labels[verdictOf(at)] + (r && r.few ? ' (too few experiments)' : '') + (r && r.basis === 'estimated' ? ' (estimated)' : ''); };
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
