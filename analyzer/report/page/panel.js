// All about one rank, in a panel at the side: from its row of the table, the ledger's bar, and data of its own.
const dialog = document.getElementById('panel');

// An element with attributes and children.
const make = (tag, attributes, ...children) => {
  const x = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) x.setAttribute(key, value);
  x.append(...children.filter((c) => c !== null));
  return x;
};
const table = (caption, headings, rows) => make('div', { class: 'fit' }, make('table', {}, make('caption', {}, caption),
  make('thead', {}, make('tr', {}, ...headings.map((h, i) => make('th', i ? { scope: 'col', class: 'n' } : { scope: 'col' }, h)))),
  make('tbody', {}, ...rows.map((row) => make('tr', {}, ...row.map((cell, i) => make('td', i ? { class: 'n' } : {}, cell)))))));
const part = (heading, ...content) => [make('h3', {}, heading), ...content];
const facts = (pairs) => make('dl', { class: 'facts' }, ...pairs.filter((p) => p[1]).map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
const most = 6;

// The buttons of the ranks in a section.
const rankOf = (button) => Number(button.textContent.replace('rank ', ''));
const buttonsIn = (section) => new Map([...document.querySelectorAll(section + ' button.rank')].map((b) => [rankOf(b), b]));
const inTable = buttonsIn('#ranks'), inLedger = buttonsIn('#ledger');

// What the table of ranks has of one.
function rowOf(rank) {
  const button = inTable.get(rank);
  if (!button) return null;
  const row = button.closest('tr'), values = { named: row.classList.contains('slow') };
  for (const heading of row.closest('table').tHead.rows[0].cells) if (heading.dataset.key) values[heading.dataset.key] = row.cells[heading.cellIndex].textContent;
  return values;
}

// Computing, waiting and the rest of MPI as a bar.
function timeOf(row) {
  const computes = parseFloat(row.computes) || 0, mpi = parseFloat(row.mpi) || 0, waits = parseFloat(row.waits) || 0;
  const parts = [['compute', 'computes', computes], ['wait', 'waits for others', waits], ['mpi', 'otherwise in MPI', Math.max(0, mpi - waits)]].filter((p) => p[2] > 0);
  const sum = parts.reduce((s, p) => s + p[2], 0) || 1;
  return [
    make('div', { class: 'ledger', role: 'img', 'aria-label': parts.map((p) => p[1] + ' ' + seconds(p[2])).join(', ') },
      ...parts.map(([key, , s]) => make('span', { class: 'part ' + key, style: 'width:' + 100 * s / sum + '%' }))),
    make('ul', { class: 'ledger-legend' }, ...parts.map(([key, name, s]) => make('li', {}, make('span', { class: 'key part ' + key }), name + ' ', make('span', { class: 'amount' }, make('b', {}, percent(s / sum)), ' ' + seconds(s))))),
  ];
}

// The ledger's bar of the rank, with words.
function ledgerOf(rank) {
  const button = inLedger.get(rank);
  const bar = button.parentElement.querySelector('.ledger').cloneNode(true);
  return part('Where its time went', bar, make('ul', { class: 'ledger-legend' }, ...[...bar.children].filter((p) => parseFloat(p.style.width) >= 0.05).map((p) => make('li', {}, make('span', { class: 'key ' + p.className }), p.title))));
}

function activitiesOf(rank) {
  const all = data.activities[rank];
  if (!all) return [];
  const computes = all.filter((a) => /^(between|before|after) /.test(a[0])), calls = all.filter((a) => !computes.includes(a));
  return [
    ...(computes.length ? part('Where it computes longest', table('Its longest computations', ['Computation', 'Times', 'Duration', 'Mean of all ranks'], computes.map((a) => [a[0], a[1].toLocaleString('en'), seconds(a[2]), seconds(a[3])]))) : []),
    ...(calls.length ? part('Its longest calls', table('Its longest calls', ['Call', 'Times', 'Duration', 'of which waiting', 'Mean of all ranks'], calls.map((a) => [a[0], a[1].toLocaleString('en'), seconds(a[2]), seconds(a[4]), seconds(a[3])]))) : []),
  ];
}

function waitsOf(rank) {
  const rows = (from, other) => {
    const sums = new Map();
    for (const p of data.pairs) if (p[from] === rank) sums.set(p[other], (sums.get(p[other]) || []).concat([p]));
    return [...sums].map(([who, list]) => [who, list.reduce((s, p) => s + p[4], 0), list.map((p) => data.kinds[p[2]]).join(', ')])
      .sort((a, b) => b[1] - a[1]).slice(0, most).map(([who, s, kinds]) => ['rank ' + who, kinds, seconds(s)]);
  };
  const waits = rows(0, 1), waiting = rows(1, 0), delays = data.delays.filter((d) => d[0] === rank).slice(0, most / 2);
  return [
    ...(waits.length ? part('Whom it waits for', table('Whom it waits for', ['Rank', 'Pattern', 'Waits'], waits)) : []),
    ...(waiting.length ? part('Who waits for it', table('Who waits for it', ['Rank', 'Pattern', 'Waits'], waiting)) : []),
    ...(delays.length ? part('Its delays that others wait for', table('Its delays', ['What takes longer', 'Others wait'], delays.map((d) => [d[1], seconds(d[2])]))) : []),
  ];
}

function cpusOf(rank) {
  const c = data.cpus[rank];
  if (!c) return [];
  const all = Object.values(data.cpus), mean = (k) => all.reduce((s, x) => s + (x[k] || 0), 0) / all.length;
  return part('CPU', table('Its CPU time', ['', 'This rank', 'Mean of all ranks'], [
    ['had a CPU for', percent(c[0]), percent(mean(0))],
    ...(c[1] === null ? [] : [['was ready but waited for a CPU (run delay)', percent(c[1]), percent(mean(1))]]),
    ...(c[2] === null ? [] : [['was throttled by its CPU limit for', seconds(c[2]), seconds(mean(2))]]),
    ['was preempted, times', c[3].toLocaleString('en'), Math.round(mean(3)).toLocaleString('en')],
  ]));
}

openPanel = (rank) => {
  const row = rowOf(rank), calls = showCalls(rank);
  const close = make('button', { type: 'button', class: 'close', 'aria-label': 'Close' }, '✕');
  close.addEventListener('click', () => dialog.close());
  const title = make('h2', { id: 'panel-title' }, 'Rank ' + rank);
  if (!row) {
    dialog.replaceChildren(close, title, make('p', {}, 'It is not among the ranks that this page lists; report.json has all of them.'));
  } else {
    const look = make('button', { type: 'button' }, 'Its calls in the timeline');
    look.addEventListener('click', () => { dialog.close(); calls(); document.getElementById('timeline').scrollIntoView(); });
    dialog.replaceChildren(
      close, title,
      row.named ? make('p', { class: 'tag' }, 'named by the verdict') : '',
      facts([['Pod', row.pod], ['Node', row.node], ['Host', row.host || data.hosts[rank]]]),
      ...(inLedger.has(rank) ? ledgerOf(rank) : part('Where its time went', ...timeOf(row))),
      facts([['On the critical path', secondsOf(row.path)], ['Others waited for it', secondsOf(row.awaited)], ['Waiting that its delays caused', secondsOf(row.caused)], ['Slack', secondsOf(row.slack)], ['Calls', row.calls]]),
      calls ? make('p', { class: 'controls' }, look) : '',
      ...activitiesOf(rank), ...waitsOf(rank), ...cpusOf(rank),
    );
    if (!data.activities[rank]) dialog.append(make('p', { class: 'small' }, 'Where the time went in detail is known only for the ranks that the verdict names and the ranks that are longest on the critical path.'));
  }
  dialog.showModal();
  dialog.scrollTop = 0;
};
const secondsOf = (words) => words === undefined || Number.isNaN(parseFloat(words)) ? '' : seconds(parseFloat(words));

document.addEventListener('click', (e) => {
  const button = e.target.closest('button.rank');
  if (button) openPanel(rankOf(button));
});
dialog.addEventListener('click', (e) => { // beside it
  if (e.target === dialog && e.clientX < dialog.getBoundingClientRect().left) dialog.close();
});
// In a long list of ranks the arrow keys go from one to the next.
for (const list of document.querySelectorAll('[data-arrows]')) {
  const buttons = () => [...list.querySelectorAll('button.rank')];
  const only = (button) => buttons().forEach((b) => { b.tabIndex = b === button ? 0 : -1; });
  only(buttons()[0]);
  list.addEventListener('keydown', (e) => {
    const all = buttons(), at = all.indexOf(e.target), to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (at < 0 || to === undefined || !all[to]) return;
    e.preventDefault();
    only(all[to]);
    all[to].focus();
  });
}
