'use strict';
// Tables: a click on a heading sorts by it.
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = heading.getAttribute('aria-sort') === 'descending' ? 1 : -1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', down < 0 ? 'descending' : 'ascending');
      const column = heading.cellIndex, numeric = heading.classList.contains('n');
      const key = (row) => numeric ? parseFloat(row.cells[column].textContent) || 0 : row.cells[column].textContent;
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort((a, b) => down * (numeric ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0]), 'en', { numeric: true })));
      body.append(...rows.map((r) => r[1]));
    });
  }
}

// The time line: a strip for each rank, and the critical path over them.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const element = document.getElementById('chart');
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const run = data.run, ranks = data.ranks;
  const row = new Map(ranks.map((rank, i) => [rank, i]));
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const seconds = (s) => s >= 100 ? s.toFixed(0) + ' s' : s >= 1 ? s.toFixed(2) + ' s' : s >= 1e-3 ? (s * 1e3).toFixed(2) + ' ms' : (s * 1e6).toFixed(1) + ' µs';
  const percent = (x) => Math.round(100 * x) + '%';
  const text = (s) => s.replace(/[&<>"]/g, (c) => '&#' + c.charCodeAt(0) + ';');

  // Equal neighbouring bins become one rectangle: [start, end, row, in MPI, waiting], shares of 255.
  const strips = [], near = ranks.length > 100 ? 24 : 6;
  ranks.forEach((_, i) => {
    const mpi = bytes(data.mpi[i] || ''), wait = bytes(data.wait[i] || ''), width = run / data.bins;
    for (let from = 0, to; from < mpi.length; from = to) {
      for (to = from + 1; to < mpi.length && Math.abs(mpi[to] - mpi[from]) < near && Math.abs(wait[to] - wait[from]) < near; to++);
      if (wait[from] <= mpi[from]) strips.push([from * width, Math.min(run, to * width), i, mpi[from], wait[from]]);
    }
  });
  const segments = data.segments.map((s) => [s[1], s[2], row.get(s[0]), s[3], s[4], s[5], s[6]]);
  const route = [];
  for (const s of segments) route.push([s[0], s[2]], [s[1], s[2]]);

  const chart = echarts.init(element, null, { renderer: 'canvas' });
  const parse = (c) => { const m = /^#(..)(..)(..)$/.exec(c.length === 4 ? c.replace(/[^#]/g, '$&$&') : c); return m.slice(1).map((x) => parseInt(x, 16)); };
  function draw() {
    const colors = { compute: parse(css('--compute')), wait: parse(css('--wait')), mpi: parse(css('--mpi')) };
    const line = css('--route'), soft = css('--soft'), grid = css('--line'), back = css('--back'), front = css('--text');
    const mix = (mpi, wait) => {
      const w = Math.min(wait, mpi) / 255, m = mpi / 255 - w, c = 1 - w - m;
      return 'rgb(' + [0, 1, 2].map((k) => Math.round(c * colors.compute[k] + w * colors.wait[k] + m * colors.mpi[k])).join() + ')';
    };
    const rectangle = (height, style) => (parameters, api) => {
      const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(2)]);
      const h = height(api.size([0, 1])[1]), frame = parameters.coordSys;
      const x = Math.max(a[0], frame.x), right = Math.min(Math.max(b[0], a[0] + 0.5), frame.x + frame.width);
      if (right < x || a[1] + h / 2 < frame.y || a[1] - h / 2 > frame.y + frame.height) return null;
      return { type: 'rect', shape: { x, y: a[1] - h / 2, width: right - x, height: h }, style: style(api) };
    };
    const rows = ranks.length;
    chart.setOption({
      animation: false,
      aria: { enabled: false },
      textStyle: { fontFamily: 'system-ui, sans-serif' },
      grid: { left: 74, right: rows > 40 ? 60 : 22, top: 10, bottom: 66 },
      tooltip: {
        confine: true, backgroundColor: back, borderColor: grid, textStyle: { color: front, fontSize: 12.5 },
        formatter: (p) => {
          const v = p.value;
          if (p.seriesName === 'path') {
            return '<b>Critical path · rank ' + ranks[v[2]] + '</b><br>' + text(v[4]) + (v[5] ? '<br>' + text(v[5]) : '') +
              '<br>' + seconds(v[1] - v[0]) + ' from ' + seconds(v[0]) + (v[6] ? '<br>stands for ' + (v[6] + 1) + ' short pieces, the longest of them named' : '');
          }
          const waiting = Math.min(v[4], v[3]) / 255, mpi = v[3] / 255;
          return '<b>Rank ' + ranks[v[2]] + '</b> ' + text(data.where[v[2]] || '') + '<br>' + seconds(v[0]) + ' – ' + seconds(v[1]) +
            '<br>computes ' + percent(1 - mpi) + ', waits ' + percent(waiting) + ', in MPI otherwise ' + percent(mpi - waiting);
        },
      },
      xAxis: {
        type: 'value', min: 0, max: run, axisLabel: { color: soft, formatter: (x) => x === 0 ? '0' : seconds(x), showMaxLabel: false },
        axisLine: { lineStyle: { color: grid } }, splitLine: { show: false },
      },
      yAxis: {
        type: 'category', inverse: true, data: ranks.map((rank) => 'rank ' + rank), axisTick: { show: false },
        axisLabel: { color: soft, interval: rows > 32 ? Math.ceil(rows / 24) - 1 : 'auto' }, splitLine: { show: false }, axisLine: { show: false },
      },
      dataZoom: [
        { type: 'slider', xAxisIndex: 0, filterMode: 'none', bottom: 10, height: 20, borderColor: grid, labelFormatter: (x) => seconds(x), textStyle: { color: soft }, brushSelect: false },
        { type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
        ...(rows > 40 ? [{ type: 'slider', yAxisIndex: 0, filterMode: 'none', right: 14, width: 18, borderColor: grid, showDetail: false, brushSelect: false }] : []),
      ],
      series: [
        { name: 'ranks', type: 'custom', data: strips, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true,
          renderItem: rectangle((h) => Math.max(1, h * (rows > 100 ? 1 : 0.78)), (api) => ({ fill: mix(api.value(3), api.value(4)) })) },
        { name: 'halo', type: 'line', data: route, showSymbol: false, silent: true, z: 4, lineStyle: { color: back, width: rows > 100 ? 3 : 5, opacity: 0.8 }, tooltip: { show: false }, emphasis: { disabled: true } },
        { name: 'route', type: 'line', data: route, showSymbol: false, silent: true, z: 5, lineStyle: { color: line, width: 2 }, tooltip: { show: false }, emphasis: { disabled: true } },
        { name: 'path', type: 'custom', data: segments, encode: { x: [0, 1], y: 2 }, z: 6, clip: true,
          renderItem: rectangle((h) => Math.max(3, Math.min(6, h * 0.22)), () => ({ fill: line })) },
      ],
    }, true);
  }
  // Tests wait for the whole picture.
  chart.on('finished', () => { document.documentElement.dataset.ready = 'yes'; });
  draw();
  new ResizeObserver(() => chart.resize()).observe(element);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  addEventListener('beforeprint', () => chart.resize());

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
})();
