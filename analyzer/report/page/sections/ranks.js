// A strip for each way in which ranks differ: one column per rank, or per tile of ranks.
const rows = data.rows.map((row) => ({ ...row, values: bytes(row.values) }));
const columns = rows[0].values.length;
const cells = rows.flatMap((row, i) => [...row.values].map((value, column) => [column, column + 1, i, value]));
const who = (column) => {
  const from = column * data.tile, to = Math.min(data.ranks.length, from + data.tile) - 1;
  return to > from ? 'ranks ' + data.ranks[from] + ' – ' + data.ranks[to] : 'rank ' + data.ranks[from];
};

chartIn(document.getElementById('ranks-chart'), (chart) => {
  const t = theme(), colors = rows.map((row) => parse(css('--' + row.color))), none = parse(t.card);
  chart.setOption({
    ...t.base,
    grid: { left: 104, right: 16, top: 8, bottom: 26 },
    tooltip: {
      ...t.tooltip,
      formatter: (p) => '<b>' + who(p.value[0]) + '</b>' + rows.map((row) => '<br>' + row.name + ' ' + seconds(row.most * row.values[p.value[0]] / 255)).join(''),
    },
    xAxis: {
      type: 'value', min: 0, max: columns, splitLine: { show: false }, axisLine: { lineStyle: { color: t.grid } },
      interval: step(columns, 16), axisLabel: { color: t.soft, formatter: (x) => x < columns ? data.ranks[x * data.tile] : '' },
    },
    yAxis: { type: 'category', inverse: true, data: rows.map((row) => row.name), axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: t.soft } },
    series: [{
      type: 'custom', data: cells, encode: { x: [0, 1], y: 2 }, progressive: 0, clip: true,
      renderItem: rectangle((h) => h - 4, (api) => ({ fill: blend(none, colors[api.value(2)], api.value(3) / 255) })),
    }],
  }, true);
});
