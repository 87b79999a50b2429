// What of Apache ECharts the report's page uses; bundle.sh makes echarts.min.js from it.
import * as echarts from 'echarts/core';
import { CustomChart, LineChart } from 'echarts/charts';
import { AriaComponent, DataZoomComponent, GridComponent, TooltipComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';

echarts.use([CustomChart, LineChart, AriaComponent, DataZoomComponent, GridComponent, TooltipComponent, CanvasRenderer]);
window.echarts = echarts;
