// The elements of the page, and how they are made.
const $ = id => document.getElementById(id);
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
