// The communication matrix as a heat map, colored by the logarithm of bytes or of messages.
const cells = [];
let at = 0;
for (const [gap, count, calls, volume] of data.runs) {
  at += gap;
  for (const end = at + count; at < end; at++) cells.push([at % data.side, Math.floor(at / data.side), calls, volume]);
}
const names = Array.from({ length: data.side }, (_, i) => i * data.tile);
const who = (i) => data.tile === 1 ? 'rank ' + i : 'ranks ' + i * data.tile + ' – ' + (Math.min(data.ranks, (i + 1) * data.tile) - 1);
const logarithm = (x) => Math.log2(1 + x);
const chosen = () => document.querySelector('[name=messages-of]:checked').value;

const chart = chartIn(document.getElementById('messages-chart'), (chart) => {
  const t = theme(), of = chosen(), column = of === 'calls' ? 2 : 3;
  const words = of === 'calls' ? (x) => Math.round(x).toLocaleString('en') : size;
  const axis = (name) => ({
    type: 'category', data: names, name, nameLocation: 'middle', nameTextStyle: { color: t.soft }, axisTick: { show: false }, splitArea: { show: false },
    axisLine: { lineStyle: { color: t.grid } }, axisLabel: { color: t.soft, interval: (i) => i % step(data.side, 16) === 0 },
  });
  let most = 0, least = Infinity;
  for (const c of cells) {
    most = Math.max(most, c[column]);
    least = Math.min(least, c[column]);
  }
  chart.setOption({
    ...t.base,
    grid: { left: 66, right: 100, top: 10, bottom: 44 },
    tooltip: {
      ...t.tooltip,
      formatter: (p) => '<b>' + who(p.value[1]) + ' → ' + who(p.value[0]) + '</b><br>' + p.value[3].toLocaleString('en') + ' messages<br>' + size(p.value[4]),
    },
    xAxis: { ...axis('to rank'), nameGap: 26 },
    yAxis: { ...axis('from rank'), nameGap: 44, inverse: true },
    visualMap: {
      type: 'continuous', min: least < most ? logarithm(least) : logarithm(least) / 2, max: Math.max(1, logarithm(most)), dimension: 2, right: 8, top: 10, itemHeight: 140,
      text: [words(most), words(least)], textStyle: { color: t.soft }, inRange: { color: ['--heat-1', '--heat-2', '--heat-3'].map(css) },
    },
    series: [{
      type: 'heatmap', progressive: 0, data: cells.map((c) => [c[0], c[1], logarithm(c[column]), c[2], c[3]]),
      itemStyle: data.side > 64 ? {} : { borderColor: t.back, borderWidth: 1 }, emphasis: { itemStyle: { borderColor: t.front, borderWidth: 1 } },
    }],
  }, true);
});
for (const choice of document.querySelectorAll('[name=messages-of]')) choice.addEventListener('change', () => redraw(chart));
