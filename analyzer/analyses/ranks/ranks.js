// A strip for each way in which ranks differ: one column per rank, or per tile of ranks, and before them, wide, the ranks
// that the verdict names.
const rows = data.rows.map((row) => ({ ...row, values: bytes(row.values), named: bytes(row.named || '') }));
const columns = rows[0].values.length, named = columns > 1 ? data.named : [];
const wide = Math.max(1, Math.round(columns / 30)), gap = Math.max(0.25, columns / 60), before = named.length ? named.length * wide + gap : 0;
const cells = rows.flatMap((row, i) => [
  ...named.map((_, k) => [k * wide - before, (k + 1) * wide - before, i, row.named[k], data.ranks[named[k]]]),
  ...[...row.values].map((value, column) => [column, column + 1, i, value, -1]),
]);
const who = (column) => {
  const from = column * data.tile, to = Math.min(data.ranks.length, from + data.tile) - 1;
  return to > from ? 'ranks ' + data.ranks[from] + ' – ' + data.ranks[to] : 'rank ' + data.ranks[from];
};

const chart = chartIn(document.getElementById('ranks-chart'), (chart) => {
  const t = theme(), colors = rows.map((row) => parse(css('--' + row.color))), none = parse(t.card), bad = css('--bad');
  chart.setOption({
    ...t.base,
    grid: { left: 104, right: 16, top: 8, bottom: 26 },
    tooltip: {
      ...t.tooltip,
      formatter: ({ value: v }) => {
        const k = v[4] < 0 ? -1 : named.findIndex((i) => data.ranks[i] === v[4]);
        return '<b>' + (k < 0 ? who(v[0]) : 'rank ' + v[4] + '</b>, named by the verdict<b>') + '</b>' +
          rows.map((row) => '<br>' + row.name + ' ' + seconds(row.most * (k < 0 ? row.values[v[0]] : row.named[k]) / 255)).join('');
      },
    },
    xAxis: {
      type: 'value', min: -before, max: columns, splitLine: { show: false }, axisLine: { lineStyle: { color: t.grid } },
      interval: step(columns, 16), axisLabel: { color: t.soft, formatter: (x) => x >= 0 && x < columns ? data.ranks[x * data.tile] : '' },
    },
    yAxis: { type: 'category', inverse: true, data: rows.map((row) => row.name), axisTick: { show: false }, axisLine: { show: false, onZero: false }, axisLabel: { color: t.soft } },
    series: [
      { name: 'ranks', type: 'custom', data: cells, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true,
        renderItem: rectangle((h) => h - 4, (api) => ({ fill: blend(none, colors[api.value(2)], api.value(3) / 255) })) },
      { name: 'named', type: 'custom', data: named.map((i, k) => [(k + 0.5) * wide - before, data.ranks[i]]), encode: { x: 0 }, silent: true, tooltip: { show: false }, clip: false,
        renderItem: (p, api) => ({ type: 'text', style: { text: String(api.value(1)), x: api.coord([api.value(0), 0])[0], y: p.coordSys.y + p.coordSys.height + 8, align: 'center', fill: bad, font: 'bold 12px system-ui, sans-serif' } }) },
    ],
  }, true);
});
chart.on('click', ({ value: v }) => v && openPanel(v[4] >= 0 ? v[4] : data.ranks[v[0] * data.tile]));
