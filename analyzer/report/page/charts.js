// What the scripts of the sections share.
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const seconds = (s) => s >= 100 ? s.toFixed(0) + ' s' : s >= 1 ? s.toFixed(2) + ' s' : s >= 1e-3 ? (s * 1e3).toFixed(2) + ' ms' : (s * 1e6).toFixed(1) + ' µs';
const brief = (s) => s === 0 ? '0' : seconds(s).replace(/\.0+ /, ' ');
const size = (n) => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024;
  return (unit === 0 ? n : n.toPrecision(3)) + ' ' + units[unit];
};
const percent = (x) => Math.round(100 * x) + '%';
const text = (s) => s.replace(/[&<>"]/g, (c) => '&#' + c.charCodeAt(0) + ';');
// A power of two that cuts n into at most so many parts: what to label of ranks.
const step = (n, parts) => 2 ** Math.max(0, Math.ceil(Math.log2(n / parts)));

// A color of the style sheet as red, green and blue; a mixture of two; the color of writing on it.
const parse = (c) => { const m = /^#(..)(..)(..)$/.exec(c.length === 4 ? c.replace(/[^#]/g, '$&$&') : c); return m.slice(1).map((x) => parseInt(x, 16)); };
const blend = (a, b, share) => 'rgb(' + a.map((x, k) => Math.round(x + share * (b[k] - x))).join() + ')';
const ink = (rgb) => { const [r, g, b] = rgb.match(/\d+/g); return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? '#111' : '#fff'; };

// What all charts look alike in.
function theme() {
  const t = { soft: css('--soft'), grid: css('--line'), back: css('--back'), card: css('--card'), front: css('--text') };
  t.base = { animation: false, aria: { enabled: false }, textStyle: { fontFamily: 'system-ui, sans-serif' } };
  t.tooltip = { confine: true, backgroundColor: t.back, borderColor: t.grid, textStyle: { color: t.front, fontSize: 12.5 } };
  return t;
}

// A rectangle from value 0 to value 1 in row value 2 of a chart, cut off at its frame.
const rectangle = (height, style) => (parameters, api) => {
  const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(2)]);
  const h = height(api.size([0, 1])[1]), frame = parameters.coordSys;
  const x = Math.max(a[0], frame.x), right = Math.min(b[0], frame.x + frame.width);
  if (right < x || a[1] + h / 2 < frame.y || a[1] - h / 2 > frame.y + frame.height) return null;
  // on whole pixels: edges between them would show as stripes where many rectangles meet
  const left = Math.round(x), top = Math.round(a[1] - h / 2);
  return { type: 'rect', shape: { x: left, y: top, width: Math.max(1, Math.round(right) - left), height: Math.max(1, Math.round(a[1] + h / 2) - top) }, style: style(api) };
};

// What one section does for others: the panel of a rank (panel.js), and how to see its calls, false where they are not
// known (timeline.js).
let openPanel = () => {};
let showCalls = () => false;

// A chart fits its element and is drawn again when its size or the colors change: those of the dark scheme, and on
// paper always the light ones. The page is ready when all charts are drawn, which tests wait for.
const drawings = new Map();
let unfinished = 0;
function chartIn(element, draw) {
  unfinished++;
  const chart = echarts.init(element, null, { renderer: 'canvas' });
  const finished = () => {
    chart.off('finished', finished);
    if (--unfinished === 0) document.documentElement.dataset.ready = 'yes';
  };
  chart.on('finished', finished);
  drawings.set(chart, draw);
  draw(chart);
  let width = element.clientWidth;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    chart.resize();
    redraw(chart);
  }).observe(element);
  return chart;
}
// The part of time that is shown stays.
function redraw(chart) {
  const zoom = (chart.getOption().dataZoom || []).map(({ start, end }) => ({ start, end }));
  drawings.get(chart)(chart);
  zoom.forEach(({ start, end }, dataZoomIndex) => chart.dispatchAction({ type: 'dataZoom', dataZoomIndex, start, end }));
}
const redrawAll = () => drawings.forEach((_, chart) => redraw(chart));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
addEventListener('beforeprint', () => { document.documentElement.classList.add('paper'); redrawAll(); });
addEventListener('afterprint', () => { document.documentElement.classList.remove('paper'); redrawAll(); });
