// The topology as it was recognized: ranks at their places, lines between those that talk, slow ranks colored.
const [width, height] = data.size, room = 0.75;
const large = data.points.length > 300;

chartIn(document.getElementById('topology-chart'), (chart) => {
  const t = theme(), least = parse(css('--least')), most = parse(css('--most')), line = css('--edge'), mark = css('--bad');
  // one unit is as long in both directions
  const frame = { x: chart.getWidth() - 24, y: chart.getHeight() - 24 };
  const unit = Math.min(frame.x / (width + 2 * room), frame.y / (height + 2 * room));
  const axis = (extent, pixels, inverse) => {
    const slack = (pixels / unit - extent) / 2;
    return { type: 'value', min: -slack, max: extent + slack, show: false, inverse };
  };
  const radius = Math.max(1.5, Math.min(15, unit * 0.3));
  const labels = radius >= 7.5;
  const at = (api, x, y) => api.coord([x, y]);
  chart.setOption({
    ...t.base,
    grid: { left: 12, right: 12, top: 12, bottom: 12 },
    tooltip: {
      ...t.tooltip,
      formatter: (p) => '<b>Rank ' + p.dataIndex + '</b>' + (data.places[p.dataIndex] ? ' at ' + data.places[p.dataIndex].join(', ') : '') +
        (data.seconds[p.dataIndex] === null ? '' : '<br>computes ' + seconds(data.seconds[p.dataIndex])),
    },
    xAxis: axis(width, frame.x, false),
    yAxis: axis(height, frame.y, true),
    series: [
      { type: 'custom', silent: true, data: data.lines, tooltip: { show: false }, progressive: 0, encode: { x: [0, 2], y: [1, 3] },
        renderItem: (_, api) => {
          const a = at(api, api.value(0), api.value(1)), b = at(api, api.value(2), api.value(3));
          return { type: 'line', shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke: line, lineWidth: large ? 0.6 : 1.2 } };
        } },
      { type: 'custom', data: data.points, z: 5, progressive: 0, encode: { x: 0, y: 1 },
        renderItem: (parameters, api) => {
          const rank = parameters.dataIndex, [cx, cy] = at(api, api.value(0), api.value(1)), named = data.named.includes(rank);
          const heat = data.heat[rank], r = named ? Math.max(4, radius * 1.15) : radius;
          const fill = blend(least, most, heat);
          return { type: 'group', children: [
            { type: 'circle', z2: named ? 19 : 2, shape: { cx, cy, r }, style: { fill, stroke: named ? mark : t.back, lineWidth: named ? 3 : large ? 0 : 1 } },
            ...(labels || named ? [{ type: 'text', silent: true, z2: named ? 20 : 3, style: { text: String(rank), x: labels ? cx : cx + r + 3, y: cy, align: labels ? 'center' : 'left', verticalAlign: 'middle',
              fill: labels ? ink(fill) : t.front, font: (named ? 'bold ' : '') + Math.min(12, labels ? Math.max(9, r * 0.95) : 12) + 'px system-ui, sans-serif', stroke: labels ? null : t.back, lineWidth: labels ? 0 : 3 } }] : []),
          ] };
        } },
    ],
  }, true);
});
