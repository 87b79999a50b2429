// The timeline: a strip for each rank, or for several of many, and the critical path over them. Zoomed into the window
// that is known call by call, it shows calls, waits and messages of the ranks there instead.
const run = data.run, ranks = data.ranks, detail = data.detail;
const name = (i) => ranks[i] === data.last[i] ? 'rank ' + ranks[i] : 'ranks ' + ranks[i] + '–' + data.last[i];

// A strip takes some rows: those that the verdict names come first, and are seen among a thousand, too. An odd number, so
// that there is one in the middle.
const rowsOf = (i) => i < data.named ? 1 + 2 * Math.round(ranks.length / 72) : 1;
const middles = [], stripOf = [];
ranks.forEach((_, i) => {
  middles.push(stripOf.length + (rowsOf(i) - 1) / 2);
  for (let n = rowsOf(i); n > 0; n--) stripOf.push(i);
});
const clear = data.named ? middles[data.named - 1] + stripOf.length / 40 : 0; // a label less than that below is in the way
const labeled = new Set(ranks.map((_, i) => i).filter((i) => i < data.named || (i - data.named) % step(ranks.length, 32) === 0 && middles[i] >= clear).map((i) => middles[i]));
const namedRows = new Set(ranks.slice(0, data.named).map((_, i) => name(i)));

// The rank that a row is about: of a strip of several the one that the verdict names, else the first.
const rankAt = (row) => isClose ? closer.ranks[row] : row < data.named ? data.culprits[row] : ranks[row];

// Equal neighboring bins become one rectangle: [start, end, row, in MPI, waiting, strip], shares of 255.
const strips = [], near = ranks.length > 100 ? 24 : 6;
ranks.forEach((_, i) => {
  const mpi = bytes(data.mpi[i] || ''), wait = bytes(data.wait[i] || ''), width = run / data.bins;
  for (let from = 0, to; from < mpi.length; from = to) {
    for (to = from + 1; to < mpi.length && Math.abs(mpi[to] - mpi[from]) < near && Math.abs(wait[to] - wait[from]) < near; to++);
    if (wait[from] <= mpi[from]) strips.push([from * width, Math.min(run, to * width), middles[i], mpi[from], wait[from], i]);
  }
});
const segments = data.segments.map((s) => [s[1], s[2], middles[s[7]], s[3], s[4], s[5], s[6], s[0]]);
const route = [];
for (const s of segments) route.push([s[0], s[2]], [s[1], s[2]]);

// The window call by call, each with its row: [begin, end, row, …] in seconds.
const closer = detail && (() => {
  const row = new Map(detail.ranks.map((rank, i) => [rank, i])), at = (ns) => detail.from + ns / 1e9;
  const calls = detail.calls.map((c) => [at(c[3]), at(c[3] + c[4]), row.get(c[0]), c[2], c[1], c[0]]);
  return {
    calls, ranks: detail.ranks, from: detail.from, to: detail.to,
    base: detail.ranks.map((_, i) => [detail.from, detail.to, i]),
    waits: detail.waits.map((w) => [at(w[3]), at(w[3] + w[4]), row.get(w[0]), w[1], w[2], w[0]]),
    messages: detail.messages.map((m) => [calls[m[0]][0], calls[m[1]][1], calls[m[0]][2], calls[m[1]][2], m[2], m[0], m[1]]),
    segments: data.segments.filter((s) => row.has(s[0])).map((s) => [s[1], s[2], row.get(s[0]), s[3], s[4], s[5], s[6], s[0]]),
  };
})();
const element = document.getElementById('timeline-chart');
let isClose = false; // the calls are shown

// A moment with as many digits as a part of the run of this length needs.
const moment = (s, span) => {
  const [unit, word] = s >= 1 ? [1, ' s'] : s >= 1e-3 ? [1e3, ' ms'] : [1e6, ' µs'];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(span * unit / 40))));
  return s === 0 ? '0' : (s * unit).toFixed(digits).replace(/\.0+$/, '') + word;
};

let chart = null;
chart = chartIn(element, (chart) => {
  const t = theme(), close = isClose;
  const rows = close ? closer.ranks.length : stripOf.length;
  chart.setOption({
    ...t.base,
    grid: { left: 74, right: !close && ranks.length > 40 ? 60 : 22, top: 10, bottom: 66 },
    tooltip: { ...t.tooltip, formatter: (p) => (words[p.seriesName] || (() => ''))(p.value) },
    xAxis: {
      type: 'value', min: 0, max: run, axisLabel: { color: t.soft, formatter: (s) => s > 0 && Math.abs(s - view()[0]) < span() / 100 ? '' : moment(s, span()), hideOverlap: true, showMaxLabel: false },
      axisLine: { lineStyle: { color: t.grid } }, splitLine: { show: false },
    },
    yAxis: {
      type: 'category', inverse: true, axisTick: { show: false }, splitLine: { show: false }, axisLine: { show: false },
      data: close ? closer.ranks.map((rank) => 'rank ' + rank) : stripOf.map(name),
      axisLabel: close ? { color: (row) => namedRows.has(row) ? css('--bad') : t.soft, interval: 0 } : {
        color: (row) => namedRows.has(row) ? css('--bad') : t.soft, formatter: (_, i) => 'rank ' + rankAt(stripOf[i]), interval: (i) => labeled.has(i),
      },
    },
    dataZoom: [
      { type: 'slider', xAxisIndex: 0, filterMode: 'none', bottom: 10, height: 20, borderColor: t.grid, labelFormatter: (s) => moment(s, span()), textStyle: { color: t.soft }, brushSelect: false, showDataShadow: false },
      { type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: false, moveOnMouseWheel: false },
      ...(!close && ranks.length > 40 ? [{ type: 'slider', yAxisIndex: 0, filterMode: 'none', right: 14, width: 18, borderColor: t.grid, showDetail: false, brushSelect: false, showDataShadow: false }] : []),
    ],
    series: close ? callSeries(t) : stripSeries(t, rows),
  }, true);
});

function stripSeries(t, rows) {
  const colors = { compute: parse(css('--compute')), wait: parse(css('--wait')), mpi: parse(css('--mpi')) }, line = css('--route');
  const mix = (mpi, wait) => {
    const w = Math.min(wait, mpi) / 255, m = mpi / 255 - w, c = 1 - w - m;
    return 'rgb(' + [0, 1, 2].map((k) => Math.round(c * colors.compute[k] + w * colors.wait[k] + m * colors.mpi[k])).join() + ')';
  };
  return [
    { name: 'ranks', type: 'custom', data: strips, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true,
      renderItem: (p, api) => rectangle((h) => Math.max(1, h * rowsOf(api.value(5)) * (rows > 100 && rowsOf(api.value(5)) === 1 ? 1 : 0.78)), () => ({ fill: mix(api.value(3), api.value(4)) }))(p, api) },
    { name: 'halo', type: 'line', data: route, showSymbol: false, silent: true, z: 4, lineStyle: { color: t.back, width: rows > 100 ? 3 : 5, opacity: 0.8 }, tooltip: { show: false }, emphasis: { disabled: true } },
    { name: 'route', type: 'line', data: route, showSymbol: false, silent: true, z: 5, lineStyle: { color: line, width: 2 }, tooltip: { show: false }, emphasis: { disabled: true } },
    { name: 'path', type: 'custom', data: segments, encode: { x: [0, 1], y: 2 }, z: 6, clip: true,
      renderItem: rectangle((h) => Math.max(3, Math.min(6, h * 0.22)), () => ({ fill: line })) },
  ];
}

function callSeries(t) {
  const compute = css('--compute'), mpi = css('--mpi'), wait = css('--wait'), line = css('--route'), back = t.back, message = css('--message');
  const tall = (h) => h * 0.78;
  const lower = (h) => h * 0.3; // calls of other threads than the first
  return [
    { name: 'computation', type: 'custom', data: closer.base, encode: { x: [0, 1], y: 2 }, silent: true, clip: true, renderItem: rectangle(tall, () => ({ fill: compute })) },
    { name: 'calls', type: 'custom', data: closer.calls, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true, z: 3,
      renderItem: (p, api) => rectangle(api.value(4) > 0 ? lower : tall, () => ({ fill: mpi, stroke: back, lineWidth: 0.5 }))(p, api) },
    { name: 'waits', type: 'custom', data: closer.waits, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true, z: 4, renderItem: rectangle(tall, () => ({ fill: wait })) },
    { name: 'names', type: 'custom', data: closer.calls, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true, z: 8, silent: true, tooltip: { show: false },
      renderItem: (p, api) => {
        const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(2)]), frame = p.coordSys;
        const left = Math.max(a[0], frame.x), width = Math.min(b[0], frame.x + frame.width) - left;
        if (width < 26 || api.size([0, 1])[1] < 13) return null;
        return { type: 'text', style: { text: detail.names[api.value(3)][0].replace(/^MPI_/, ''), x: left + 3, y: a[1], verticalAlign: 'middle', width: width - 6, overflow: 'truncate', ellipsis: '…', fill: '#111', stroke: '#ffffffb0', lineWidth: 2.5, font: '11px system-ui, sans-serif' } };
      } },
    { name: 'messages', type: 'custom', data: closer.messages, encode: { x: [0, 1], y: [2, 3] }, progressive: 0, clip: true, z: 7,
      renderItem: (_, api) => {
        const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(3)]);
        const angle = Math.atan2(b[1] - a[1], b[0] - a[0]), wing = (turn) => [b[0] - 8 * Math.cos(angle + turn), b[1] - 8 * Math.sin(angle + turn)];
        return { type: 'group', children: [
          { type: 'line', shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke: message, lineWidth: 1.4 } },
          { type: 'circle', shape: { cx: a[0], cy: a[1], r: 2.5 }, style: { fill: message } },
          { type: 'polygon', shape: { points: [b, wing(0.4), wing(-0.4)] }, style: { fill: message } },
        ] };
      } },
    { name: 'path', type: 'custom', data: closer.segments, encode: { x: [0, 1], y: 2 }, z: 6, clip: true,
      renderItem: (p, api) => { // at the foot of the row: names are in the middle
        const shape = rectangle(() => 3, () => ({ fill: line }))(p, api);
        if (shape) shape.shape.y += Math.round(api.size([0, 1])[1] * 0.41);
        return shape;
      } },
  ];
}

// What is said of what is under the pointer.
const callWords = (name) => '<b>' + text(name[0]) + '</b>' + (name[1] ? ' at ' + text(name[1]) : '');
const since = (v) => seconds(v[1] - v[0]) + ' from ' + moment(v[0], span());
const words = {
  path: (v) => '<b>Critical path · rank ' + v[7] + '</b><br>' + text(v[4]) + (v[5] ? '<br>' + text(v[5]) : '') +
    '<br>' + since(v) + (v[6] ? '<br>represents ' + (v[6] + 1) + ' short pieces; the longest is named' : ''),
  ranks: (v) => {
    const waiting = Math.min(v[4], v[3]) / 255, mpi = v[3] / 255;
    return '<b>' + name(v[5]).replace('r', 'R') + '</b> ' + text(data.hosts[data.where[v[5]]] || '') + '<br>' + seconds(v[0]) + ' – ' + seconds(v[1]) +
      '<br>computes ' + percent(1 - mpi) + ', waits ' + percent(waiting) + ', otherwise in MPI ' + percent(mpi - waiting);
  },
  calls: (v) => '<b>Rank ' + v[5] + '</b>' + (v[4] > 0 ? ', thread ' + v[4] : '') + '<br>' + callWords(detail.names[v[3]]) + '<br>' + since(v),
  waits: (v) => '<b>Rank ' + v[5] + ' waits for rank ' + v[4] + '</b><br>' + text(detail.kinds[v[3]]) + '<br>' + since(v),
  messages: (v) => '<b>Message from rank ' + closer.ranks[v[2]] + ' to rank ' + closer.ranks[v[3]] + '</b>' + (v[4] >= 0 ? ', ' + size(v[4]) : '') +
    '<br>sent in ' + callWords(detail.names[closer.calls[v[5]][3]]) + '<br>received in ' + callWords(detail.names[closer.calls[v[6]][3]]) + '<br>' + seconds(v[1] - v[0]) + ' from call to call',
};

// The part of the run that is shown, in seconds, and how it changes. All ways of zooming end here.
function view() {
  const zoom = chart && (chart.getOption().dataZoom || [])[0];
  return zoom ? [zoom.start / 100 * run, zoom.end / 100 * run] : [0, run];
}
function span() {
  const [from, to] = view();
  return to - from;
}
function show(from, to) {
  const width = Math.min(run, Math.max(to - from, run * 1e-9));
  from = Math.max(0, Math.min(from, run - width));
  chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start: 100 * from / run, end: 100 * (from + width) / run });
}
chart.on('datazoom', () => {
  const [from, to] = view();
  const close = Boolean(closer) && to - from <= 1.6 * (closer.to - closer.from) && Math.min(to, closer.to) - Math.max(from, closer.from) >= (to - from) / 2;
  document.getElementById('timeline').classList.toggle('close', close);
  choose(-1);
  if (close !== isClose) {
    isClose = close;
    redraw(chart);
  }
});
const zooms = {
  in: ([from, to]) => show(from + (to - from) / 4, to - (to - from) / 4),
  out: ([from, to]) => show(from - (to - from) / 2, to + (to - from) / 2),
  left: ([from, to]) => show(from - (to - from) / 2, to - (to - from) / 2),
  right: ([from, to]) => show(from + (to - from) / 2, to + (to - from) / 2),
  all: () => show(0, run),
  detail: () => closer && show(closer.from, closer.to),
};
for (const button of document.querySelectorAll('[data-zoom]')) button.addEventListener('click', () => zooms[button.dataset.zoom](view()));
showCalls = (rank) => closer && closer.ranks.includes(rank) && (() => zooms.detail());

// Rows are chosen by the arrow keys.
let chosen = -1;
const mark = document.createElement('div'), said = document.getElementById('timeline-row');
mark.className = 'row-mark';
mark.hidden = true;
element.append(mark);
const rowCount = () => isClose ? closer.ranks.length : ranks.length;
function choose(row) {
  chosen = row < 0 ? -1 : Math.min(row, rowCount() - 1);
  mark.hidden = chosen < 0;
  if (chosen < 0) { said.textContent = ''; return; }
  const height = Math.abs(chart.convertToPixel({ yAxisIndex: 0 }, 1) - chart.convertToPixel({ yAxisIndex: 0 }, 0)) || 20;
  const tall = Math.max(4, height * (isClose ? 1 : rowsOf(chosen)));
  mark.style.top = chart.convertToPixel({ yAxisIndex: 0 }, isClose ? chosen : middles[chosen]) - tall / 2 + 'px';
  mark.style.height = tall + 'px';
  said.textContent = (isClose ? 'rank ' + closer.ranks[chosen] : name(chosen)) + ': press Enter for its details';
}
element.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const keys = {
    '+': () => zooms.in(view()), '=': () => zooms.in(view()), '-': () => zooms.out(view()), ArrowLeft: () => zooms.left(view()), ArrowRight: () => zooms.right(view()),
    Escape: () => zooms.all(), 0: () => zooms.all(), ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(Math.max(0, chosen - 1)),
    Enter: () => chosen >= 0 && openPanel(rankAt(chosen)),
  };
  if (!Object.hasOwn(keys, e.key)) return;
  e.preventDefault();
  keys[e.key]();
});
element.addEventListener('blur', () => choose(-1));

// Drag to zoom; a click opens the rank's panel; a double click shows the whole run. Fingers scroll the page.
const selection = document.createElement('div');
selection.className = 'selection';
selection.hidden = true;
element.append(selection);
const point = (e) => { const box = element.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
let dragged = null, click = 0;
element.addEventListener('pointerdown', (e) => {
  const at = point(e);
  if (e.button !== 0 || !chart.containPixel({ gridIndex: 0 }, at)) return;
  clearTimeout(click);
  dragged = { at, touch: e.pointerType === 'touch' };
  if (!dragged.touch) element.setPointerCapture(e.pointerId);
});
const timeAt = (x) => Math.max(0, Math.min(run, chart.convertFromPixel({ xAxisIndex: 0 }, x)));
element.addEventListener('pointermove', (e) => {
  if (!dragged || dragged.touch) return;
  const [x] = point(e), left = Math.min(x, dragged.at[0]), right = Math.max(x, dragged.at[0]);
  selection.hidden = right - left < 5;
  selection.style.left = left + 'px';
  selection.style.width = right - left + 'px';
});
element.addEventListener('pointerup', (e) => {
  if (!dragged) return;
  const { at } = dragged, [x, y] = point(e);
  dragged = null;
  selection.hidden = true;
  if (Math.abs(x - at[0]) >= 5) {
    const times = [timeAt(at[0]), timeAt(x)];
    show(Math.min(...times), Math.max(...times));
  } else if (Math.abs(y - at[1]) < 5) {
    const row = Math.round(chart.convertFromPixel({ yAxisIndex: 0 }, y));
    const rank = rankAt(isClose ? row : stripOf[row]);
    if (rank !== undefined) click = setTimeout(() => openPanel(rank), 250);
  }
});
element.addEventListener('pointercancel', () => { dragged = null; selection.hidden = true; });
element.addEventListener('dblclick', () => { clearTimeout(click); zooms.all(); });
