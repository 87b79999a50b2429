// What of Apache ECharts the report's page uses; bundle.sh makes echarts.min.js from it.
import * as echarts from 'echarts/core';
import { CustomChart, HeatmapChart, LineChart } from 'echarts/charts';
import { AriaComponent, DataZoomComponent, GridComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';

echarts.use([
  CustomChart, HeatmapChart, LineChart,
  AriaComponent, DataZoomComponent, GridComponent, TooltipComponent, VisualMapContinuousComponent, CanvasRenderer,
]);
window.echarts = echarts;
