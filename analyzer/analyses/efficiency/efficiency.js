// The efficiencies over time, over bands for the phases.
const names = ['Parallel efficiency', 'Load balance', 'Communication efficiency'];
const middle = (w) => (w[0] + w[1]) / 2;

chartIn(document.getElementById('efficiency-chart'), (chart) => {
  const t = theme(), colors = [css('--parallel'), css('--balance'), css('--communication')];
  chart.setOption({
    ...t.base,
    grid: { left: 48, right: 16, top: 26, bottom: 26 },
    tooltip: {
      ...t.tooltip, trigger: 'axis', axisPointer: { type: 'line', snap: true },
      formatter: (points) => {
        const w = data.windows[points.find((p) => p.seriesType === 'line').dataIndex];
        return seconds(w[0]) + ' – ' + seconds(w[1]) + names.map((name, i) => '<br>' + name + ' <b>' + percent(w[2 + i]) + '</b>').join('');
      },
    },
    xAxis: { type: 'value', min: 0, max: data.run, axisLabel: { color: t.soft, formatter: brief, hideOverlap: true, showMaxLabel: false }, axisLine: { lineStyle: { color: t.grid } }, splitLine: { show: false } },
    yAxis: { type: 'value', min: 0, max: 1, interval: 0.2, axisLabel: { color: t.soft, formatter: percent }, splitLine: { lineStyle: { color: t.grid } } },
    series: [
      { type: 'custom', silent: true, data: data.phases, encode: { x: [0, 1] }, tooltip: { show: false },
        renderItem: (parameters, api) => {
          const [from, to, name] = data.phases[parameters.dataIndex], a = api.coord([from, 1]), b = api.coord([to, 0]), width = b[0] - a[0];
          return { type: 'group', children: [
            { type: 'rect', shape: { x: a[0], y: a[1], width, height: b[1] - a[1] }, style: { fill: t.front, opacity: parameters.dataIndex % 2 ? 0.07 : 0.02 } },
            { type: 'text', style: { text: name, x: a[0] + 4, y: a[1] - 16, fill: t.soft, font: '12px system-ui, sans-serif', width: width - 8, overflow: 'truncate' }, invisible: width < 40 },
          ] };
        } },
      ...names.map((name, i) => ({
        name, type: 'line', step: 'middle', showSymbol: false, data: data.windows.map((w) => [middle(w), w[2 + i]]),
        lineStyle: { color: colors[i], width: i === 0 ? 3 : 1.5, type: ['solid', 'dashed', 'dotted'][i] }, itemStyle: { color: colors[i] }, z: 5 - i, emphasis: { disabled: true },
      })),
    ],
  }, true);
});
