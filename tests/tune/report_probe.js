// SPDX-License-Identifier: Apache-2.0
// Runs in the page after it was drawn, and writes down what its charts show: for each chart the values
// of the lines, whether something was painted, and whether the legend explains the winners.
'use strict';
const probed = [];
const say = text => probed.push(text);

/// Whether more was painted than a few lines of text, in more than one colour.
function isPainted(canvas) {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  let painted = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i + 3] < 128) continue;
    ++painted;
    seen.add((pixels[i] >> 4) * 256 + (pixels[i + 1] >> 4) * 16 + (pixels[i + 2] >> 4));
  }
  return painted > 5000 && seen.size > 5;
}

function probeChart(canvas, name) {
  const chart = Chart.getChart(canvas);
  say(`${name}: ${chart.options.plugins.title.text}`);
  for (const dataset of chart.data.datasets) {
    const values = dataset.data.map(p => Number.isNaN(p.y) ? '-' : +p.y.toPrecision(3));
    say(`${name}: ${dataset.label} = ${values.join(' ')}`);
  }
  say(`${name}: ${isPainted(canvas) ? 'painted' : 'BLANK'}`);
  const shape = canvas.clientWidth / canvas.clientHeight / (canvas.width / canvas.height);
  say(`${name}: ${Math.abs(shape - 1) < 0.02 ? 'in shape' : 'SQUASHED'}`);
  const band = chart.data.datasets.find(d => d.label === 'winner');
  if (!band) return;
  const legend = chart.legend.legendItems.map(item => item.strokeStyle);
  const algorithms = chart.data.datasets.filter(d => !d.band && !['MPI', 'bound'].includes(d.label));
  const colours = algorithms.map(d => d.borderColor);
  say(`${name}: ${new Set(colours).size} colours of ${colours.length}`);
  const foot = band.data.map((p, i) => band.segment.borderColor({p0DataIndex: i}));
  say(`${name}: foot ${foot.every(c => legend.includes(c)) ? 'explained' : 'NOT EXPLAINED'}`);
}

document.querySelectorAll('section').forEach(section => {
  const charts = section.querySelectorAll('canvas');
  if (charts.length === 0) return;
  const title = section.querySelector('h2').textContent;
  const probe = () => charts.forEach((c, i) => probeChart(c, `${title}: chart ${i}`));
  probe();
  const select = section.querySelector('select');
  if (!select) return;
  say(`${title}: choices ${[...select.options].map(o => o.value).join(' ')}`);
  select.value = 'decode';
  select.dispatchEvent(new Event('change'));
  probe();
});
const result = document.createElement('pre');
result.textContent = probed.map(line => `\nPROBE ${line}`).join('');
document.body.append(result);
