/** Plots of how it went. */
import { BarController, BarElement, CategoryScale, Chart, Legend, LineController, LineElement, LinearScale, PointElement, Tooltip } from 'chart.js';
import { html, LitElement } from 'lit';

Chart.register(BarController, BarElement, CategoryScale, Legend, LineController, LineElement, LinearScale, PointElement, Tooltip);

/** Steps that people count time in, in milliseconds. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 21600e3, 86400e3];
const MOST_STEPS = 5;

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Labels, and series of `{label, color, data, dashed, line}`, where the colour is the name of one of ours. */
class ChartView extends LitElement {
  static properties = {
    kind: {},
    label: {},
    labels: { attribute: false },
    series: { attribute: false },
    format: { attribute: false },
    stacked: { type: Boolean },
    spans: { type: Boolean },
    whole: { type: Boolean },
  };
  #chart = null;
  // Anew, for what is drawn already keeps its colours.
  #repaint = () => {
    this.#chart?.destroy();
    this.#chart = null;
    this.updated();
  };

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    dark.addEventListener('change', this.#repaint);
    document.addEventListener('themechange', this.#repaint);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    dark.removeEventListener('change', this.#repaint);
    document.removeEventListener('themechange', this.#repaint);
    this.#chart?.destroy();
    this.#chart = null;
  }

  render() {
    return html`<div class="plot"><canvas role="img" aria-label=${this.label}></canvas></div>`;
  }

  updated() {
    if (!this.#chart && this.isConnected) {
      this.#chart = new Chart(this.querySelector('canvas'), { type: this.kind, data: { labels: [], datasets: [] } });
    }
    this.#paint();
  }

  #color(name) {
    const probe = document.createElement('span');
    probe.className = `c-${name}`;
    this.append(probe);
    const color = getComputedStyle(probe).color;
    probe.remove();
    return color;
  }

  #paint() {
    const chart = this.#chart;
    if (!chart || !this.series) return;
    const text = this.#color('dim');
    const line = this.#color('line');
    const format = this.format ?? String;
    const most = Math.max(0, ...this.series.flatMap((each) => each.data));
    const step = this.spans ? STEPS.find((each) => most / each <= MOST_STEPS) : undefined;
    chart.data.labels = this.labels;
    chart.data.datasets.length = Math.min(chart.data.datasets.length, this.series.length);
    this.series.forEach((each, i) => {
      const color = this.#color(each.color);
      chart.data.datasets[i] = Object.assign(chart.data.datasets[i] ?? {}, {
        label: each.label,
        data: each.data,
        backgroundColor: color,
        borderColor: color,
        // One line may lie over bars, beside what is stacked.
        ...(each.line ? { type: 'line', stack: each.label, order: -1 } : {}),
        borderWidth: this.kind === 'line' || each.line ? 1.5 : 0,
        borderDash: each.dashed ? [3, 3] : [],
        // A point that stands alone has no line to be seen by.
        pointRadius: each.data.map((value, at) => (value != null && each.data[at - 1] == null && each.data[at + 1] == null ? 2 : 0)),
        pointHitRadius: 6,
        barPercentage: 1,
        categoryPercentage: 0.85,
      });
    });
    chart.options = {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      plugins: {
        legend: { align: 'end', labels: { color: text, usePointStyle: true, pointStyle: this.kind === 'line' ? 'line' : 'rect', boxWidth: 14, boxHeight: 7, padding: 8, font: { size: 11 } } },
        tooltip: { callbacks: { label: (item) => ` ${item.dataset.label}: ${format(item.parsed.y)}` } },
      },
      scales: {
        x: {
          stacked: this.stacked,
          grid: { display: false },
          border: { color: line },
          ticks: { color: text, maxRotation: 0, autoSkipPadding: 24, font: { size: 11 } },
        },
        y: {
          stacked: this.stacked,
          beginAtZero: true,
          suggestedMax: step && step * Math.max(1, Math.ceil(most / step)),
          grid: { color: line },
          border: { display: false },
          ticks: { color: text, stepSize: step, precision: this.whole ? 0 : undefined, maxTicksLimit: MOST_STEPS + 1, font: { size: 11 }, callback: (value) => format(value) },
        },
      },
    };
    chart.update('none');
  }
}

customElements.define('hf-chart', ChartView);
