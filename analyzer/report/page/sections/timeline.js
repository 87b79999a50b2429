// The time line: a strip for each rank, or for several of many, and the critical path over them.
const run = data.run, ranks = data.ranks;
const name = (i) => ranks[i] === data.last[i] ? 'rank ' + ranks[i] : 'ranks ' + ranks[i] + '–' + data.last[i];

// Equal neighbouring bins become one rectangle: [start, end, row, in MPI, waiting], shares of 255.
const strips = [], near = ranks.length > 100 ? 24 : 6;
ranks.forEach((_, i) => {
  const mpi = bytes(data.mpi[i] || ''), wait = bytes(data.wait[i] || ''), width = run / data.bins;
  for (let from = 0, to; from < mpi.length; from = to) {
    for (to = from + 1; to < mpi.length && Math.abs(mpi[to] - mpi[from]) < near && Math.abs(wait[to] - wait[from]) < near; to++);
    if (wait[from] <= mpi[from]) strips.push([from * width, Math.min(run, to * width), i, mpi[from], wait[from]]);
  }
});
const segments = data.segments.map((s) => [s[1], s[2], s[7], s[3], s[4], s[5], s[6], s[0]]);
const route = [];
for (const s of segments) route.push([s[0], s[2]], [s[1], s[2]]);

const chart = chartIn(document.getElementById('timeline-chart'), (chart) => {
  const t = theme(), colors = { compute: parse(css('--compute')), wait: parse(css('--wait')), mpi: parse(css('--mpi')) };
  const line = css('--route');
  const mix = (mpi, wait) => {
    const w = Math.min(wait, mpi) / 255, m = mpi / 255 - w, c = 1 - w - m;
    return 'rgb(' + [0, 1, 2].map((k) => Math.round(c * colors.compute[k] + w * colors.wait[k] + m * colors.mpi[k])).join() + ')';
  };
  const rows = ranks.length;
  chart.setOption({
    ...t.base,
    grid: { left: 74, right: rows > 40 ? 60 : 22, top: 10, bottom: 66 },
    tooltip: {
      ...t.tooltip,
      formatter: (p) => {
        const v = p.value;
        if (p.seriesName === 'path') {
          return '<b>Critical path · rank ' + v[7] + '</b><br>' + text(v[4]) + (v[5] ? '<br>' + text(v[5]) : '') +
            '<br>' + seconds(v[1] - v[0]) + ' from ' + seconds(v[0]) + (v[6] ? '<br>stands for ' + (v[6] + 1) + ' short pieces, the longest of them named' : '');
        }
        const waiting = Math.min(v[4], v[3]) / 255, mpi = v[3] / 255;
        return '<b>' + name(v[2]).replace('r', 'R') + '</b> ' + text(data.hosts[data.where[v[2]]] || '') + '<br>' + seconds(v[0]) + ' – ' + seconds(v[1]) +
          '<br>computes ' + percent(1 - mpi) + ', waits ' + percent(waiting) + ', in MPI otherwise ' + percent(mpi - waiting);
      },
    },
    xAxis: {
      type: 'value', min: 0, max: run, axisLabel: { color: t.soft, formatter: brief, hideOverlap: true, showMaxLabel: false },
      axisLine: { lineStyle: { color: t.grid } }, splitLine: { show: false },
    },
    yAxis: {
      type: 'category', inverse: true, data: ranks.map((_, i) => name(i)), axisTick: { show: false },
      axisLabel: { color: t.soft, formatter: (_, i) => 'rank ' + ranks[i], interval: (i) => i % step(rows, 32) === 0 }, splitLine: { show: false }, axisLine: { show: false },
    },
    dataZoom: [
      { type: 'slider', xAxisIndex: 0, filterMode: 'none', bottom: 10, height: 20, borderColor: t.grid, labelFormatter: seconds, textStyle: { color: t.soft }, brushSelect: false, showDataShadow: false },
      { type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
      ...(rows > 40 ? [{ type: 'slider', yAxisIndex: 0, filterMode: 'none', right: 14, width: 18, borderColor: t.grid, showDetail: false, brushSelect: false, showDataShadow: false }] : []),
    ],
    series: [
      { name: 'ranks', type: 'custom', data: strips, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true,
        renderItem: rectangle((h) => Math.max(1, h * (rows > 100 ? 1 : 0.78)), (api) => ({ fill: mix(api.value(3), api.value(4)) })) },
      { name: 'halo', type: 'line', data: route, showSymbol: false, silent: true, z: 4, lineStyle: { color: t.back, width: rows > 100 ? 3 : 5, opacity: 0.8 }, tooltip: { show: false }, emphasis: { disabled: true } },
      { name: 'route', type: 'line', data: route, showSymbol: false, silent: true, z: 5, lineStyle: { color: line, width: 2 }, tooltip: { show: false }, emphasis: { disabled: true } },
      { name: 'path', type: 'custom', data: segments, encode: { x: [0, 1], y: 2 }, z: 6, clip: true,
        renderItem: rectangle((h) => Math.max(3, Math.min(6, h * 0.22)), () => ({ fill: line })) },
    ],
  }, true);
});

// Zoom without a mouse.
for (const button of document.querySelectorAll('[data-zoom]')) {
  button.addEventListener('click', () => {
    const zoom = chart.getOption().dataZoom[0];
    let start = zoom.start, end = zoom.end;
    const width = end - start, middle = (start + end) / 2;
    switch (button.dataset.zoom) {
      case 'in': start = middle - width / 4; end = middle + width / 4; break;
      case 'out': start = middle - width; end = middle + width; break;
      case 'left': start -= width / 2; end -= width / 2; break;
      case 'right': start += width / 2; end += width / 2; break;
      case 'all': start = 0; end = 100;
    }
    if (start < 0) { end = Math.min(100, end - start); start = 0; }
    if (end > 100) { start = Math.max(0, start - (end - 100)); end = 100; }
    chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, start, end });
  });
}
