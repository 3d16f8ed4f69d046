// Draws the figures of the page with ECharts, and gives each out as SVG and its numbers as CSV.
//
// What must stay true: nothing is asked of the network; a plot has data-drawn="true" if each of its figures has a mark, and not
// because of its axes; an SVG that is given out is the light one, whatever the page looks like.
"use strict";

(() => {
    const LIGHT = {
        ink: "#1c2430", soft: "#5a6675", line: "#dde2e9", card: "#ffffff", warn: "#a3231f",
        colours: ["#0b63b6", "#d1590f", "#148a63", "#a83f8f", "#8c6d00", "#4d5bd1", "#5f6b78", "#b3262d", "#2b98b5", "#6b8e1f"],
        heat: ["#edf4fb", "#9cc7ea", "#3f8fcf", "#0b4f94"],
    };
    const DARK = {
        ink: "#e6ebf2", soft: "#a3afbf", line: "#313b49", card: "#19202a", warn: "#ff9d96",
        colours: ["#6fb4ff", "#ff9f5f", "#4fd1a5", "#e48fd0", "#e0c04f", "#a3aeff", "#aab6c5", "#ff8d88", "#6fd3ea", "#b5d76a"],
        heat: ["#1f2a38", "#1f4f80", "#3a86c8", "#9bd0ff"],
    };
    const DASHES = ["solid", "dashed", "dotted", [10, 4, 2, 4], [2, 6]];
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const figures = JSON.parse(document.getElementById("figures").textContent);

    const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
    const figure = (value) => {
        if (value === null || value === undefined) return "";
        const size = Math.abs(value);
        return size >= 100 ? value.toFixed(0) : size >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
    };
    // The same phase has the same colour in all plots.
    const colourOfPhase = (look, name, number) => colourOf(look, name.includes("write") ? 0 : name.includes("read") ? 1 : 2 + number);
    const colourOf = (look, number) => look.colours[number % look.colours.length];

    // What all plots have in common.
    function common(look) {
        return {
            animation: false,
            backgroundColor: look.card,
            color: look.colours,
            textStyle: { color: look.ink, fontFamily: "system-ui, Segoe UI, Roboto, Arial, sans-serif" },
            tooltip: {
                confine: true, backgroundColor: look.card, borderColor: look.line, textStyle: { color: look.ink, fontSize: 13 },
            },
            legend: {
                type: "plain", bottom: 0, left: "center", textStyle: { color: look.ink }, itemWidth: 28, itemGap: 14,
                inactiveColor: look.soft,
            },
        };
    }

    function axis(look, more) {
        return {
            nameTextStyle: { color: look.soft }, axisLabel: { color: look.soft, hideOverlap: true },
            axisLine: { show: true, lineStyle: { color: look.soft } }, axisTick: { lineStyle: { color: look.soft } },
            splitLine: { lineStyle: { color: look.line } }, ...more,
        };
    }

    const valueAxis = (look, name) => axis(look, {
        type: "value", min: 0, name, nameLocation: "end", nameTextStyle: { color: look.soft, align: "left" }, axisLine: { show: false },
    });

    // Room for a legend below: as many lines as its names need at this width.
    function legendHeight(names, width) {
        const lengths = names.map((name) => 48 + 7 * name.length);
        let lines = 1, used = 0;
        for (const length of lengths) {
            if (used + length > width && used > 0) { lines += 1; used = 0; }
            used += length;
        }
        return names.length > 1 ? 22 * lines + 8 : 0;
    }

    // A vertical stroke from one value to another, with short ends.
    function whisker(look, offset) {
        return (params, api) => {
            const [x, low] = api.coord([api.value(0), api.value(1)]);
            const high = api.coord([api.value(0), api.value(2)])[1];
            const at = x + offset(api);
            const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: look.ink, lineWidth: 1, opacity: 0.65 } });
            return { type: "group", silent: true, children: [line(at, low, at, high), line(at - 3, low, at + 3, low), line(at - 3, high, at + 3, high)] };
        };
    }

    function lines(plot, look, width) {
        const xs = [...new Set(plot.series.flatMap((one) => one.points.map((point) => point.x)))].sort((a, b) => a - b);
        const below = legendHeight(plot.series.map((one) => one.name), width);
        const tip = ({ seriesName, data }) => !data || !data.point ? "" :
            `<b>${escaped(seriesName)}</b><br>${escaped(plot.x)} ${data.point.x}<br>${figure(data.point.y)} ± ${figure(data.point.deviation)} ${escaped(plot.y)}` +
            `<br>from ${figure(data.point.min)} to ${figure(data.point.max)}` +
            (data.point.hollow ? "<br>few clients" : "") + (data.point.poor ? "<br>poor overlap" : "");
        const drawn = plot.series.map((one) => {
            const colour = colourOf(look, one.colour);
            return {
                type: "line", name: one.name, symbol: "circle", symbolSize: 10, showAllSymbol: true, z: 3,
                lineStyle: { color: colour, width: 2, type: DASHES[one.dash % DASHES.length] }, itemStyle: { color: colour },
                data: one.points.map((point) => ({
                    point, value: [xs.indexOf(point.x), point.y], symbol: point.poor ? "triangle" : "circle",
                    itemStyle: { color: point.hollow ? look.card : colour, borderColor: colour, borderWidth: 2 },
                })),
            };
        });
        const spreads = plot.series.map((one) => ({
            type: "custom", name: one.name, silent: true, tooltip: { show: false }, z: 2, clip: true, encode: { x: 0, y: [1, 2] },
            renderItem: whisker({ ...look, ink: colourOf(look, one.colour) }, () => 0),
            data: one.points.map((point) => [xs.indexOf(point.x), Math.max(0, point.y - point.deviation), point.y + point.deviation]),
        }));
        const option = common(look);
        return {
            ...option,
            tooltip: { ...option.tooltip, trigger: "item", formatter: tip },
            legend: { ...option.legend, show: plot.series.length > 1, data: plot.series.map((one) => one.name) },
            grid: { left: 8, right: 16, top: 34, bottom: below + 26, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
            xAxis: axis(look, { type: "category", data: xs.map(String), name: plot.x, nameLocation: "middle", nameGap: 26, splitLine: { show: false } }),
            yAxis: valueAxis(look, plot.y),
            series: [...drawn, ...spreads],
        };
    }

    function bars(plot, look, width) {
        // Names that would not fit below their bars stand beside them.
        const lying = plot.categories.length * Math.max(...plot.categories.map((name) => name.length)) * 7 > width * 0.9;
        const below = legendHeight(plot.series.map((one) => one.name), width);
        const names = axis(look, {
            type: "category", data: plot.categories, inverse: lying, splitLine: { show: false },
            axisLabel: { color: look.ink, width: width * 0.42, overflow: "break", interval: 0, fontSize: width < 500 ? 11 : 12, lineHeight: 12 },
        });
        const values = valueAxis(look, lying ? "" : plot.y);
        if (plot.stacked) values.max = 100;
        if (lying) Object.assign(values, { name: plot.y, nameLocation: "middle", nameGap: 26, nameTextStyle: { color: look.soft } });
        const count = plot.series.length;
        const drawn = plot.series.map((one, number) => ({
            type: "bar", name: one.name, stack: plot.stacked ? "all" : undefined, barMaxWidth: 42, barGap: "12%",
            itemStyle: { color: colourOf(look, one.colour ?? number), borderColor: look.card, borderWidth: plot.stacked ? 1 : 0 },
            data: one.values.map((value) => value === null ? "-" : value),
        }));
        const layout = (api) => api.barLayout({ count, barMaxWidth: 42, barGap: "12%" });
        const spreads = plot.stacked ? [] : plot.series.map((one, number) => ({
            type: "custom", name: one.name, silent: true, tooltip: { show: false }, z: 4,
            renderItem: (params, api) => {
                const place = layout(api)[number];
                const at = api.value(0), ends = [api.value(1), api.value(2)].map((value) => lying ? api.coord([value, at]) : api.coord([at, value]));
                const line = (a, b) => ({ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke: look.ink, lineWidth: 1.2, opacity: 0.8 } });
                const moved = ends.map(([x, y]) => lying ? [x, y + place.offsetCenter] : [x + place.offsetCenter, y]);
                const cap = ([x, y]) => lying ? line([x, y - 3], [x, y + 3]) : line([x - 3, y], [x + 3, y]);
                return { type: "group", silent: true, children: [line(...moved), ...moved.map(cap)] };
            },
            encode: lying ? { x: [1, 2], y: 0 } : { x: 0, y: [1, 2] },
            data: one.deviations.length === 0 ? [] : one.values.flatMap((value, at) => value === null ? [] : [[at, Math.max(0, value - one.deviations[at]), value + one.deviations[at]]]),
        }));
        // A triangle at the end of a bar whose processes did not overlap well.
        const marks = plot.series.map((one, number) => ({
            type: "custom", name: one.name, silent: true, tooltip: { show: false }, z: 5,
            renderItem: (params, api) => {
                const place = layout(api)[number];
                const [x, y] = lying ? api.coord([api.value(1), api.value(0)]) : api.coord([api.value(0), api.value(1)]);
                const [middle, base] = lying ? [x + 9, y + place.offsetCenter + 4] : [x + place.offsetCenter, y - 4];
                return { type: "polygon", silent: true, shape: { points: [[middle - 5, base], [middle + 5, base], [middle, base - 8]] }, style: { fill: look.warn } };
            },
            encode: lying ? { x: 1, y: 0 } : { x: 0, y: 1 },
            data: one.poor.flatMap((poor, at) => poor && one.values[at] !== null ? [[at, one.values[at] + (one.deviations[at] ?? 0)]] : []),
        }));
        const option = common(look);
        const tip = ({ seriesName, dataIndex, seriesIndex, name }) => {
            const one = plot.series[seriesIndex % count];
            const spread = one.deviations[dataIndex] ? ` ± ${figure(one.deviations[dataIndex])}` : "";
            const poor = one.poor[dataIndex] ? "<br>poor overlap" : "";
            return `<b>${escaped(name)}</b><br>${escaped(seriesName)}: ${figure(one.values[dataIndex])}${spread} ${escaped(plot.y)}${poor}`;
        };
        return {
            ...option,
            tooltip: { ...option.tooltip, trigger: "item", formatter: tip },
            legend: { ...option.legend, show: count > 1, data: plot.series.map((one) => one.name) },
            grid: { left: 8, right: 24, top: lying ? 10 : 34, bottom: below + (lying ? 30 : 8), outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
            xAxis: lying ? values : names, yAxis: lying ? names : values,
            series: [...drawn, ...spreads, ...marks],
        };
    }

    function heat(plot, look) {
        const means = plot.cells.map((cell) => cell.mean);
        const [low, high] = [Math.min(...means), Math.max(...means)];
        const option = common(look);
        const told = ({ data }) => {
            const { mean, deviation, max, poor } = data.cell;
            return `{mean|${figure(mean)}${poor ? " ▲" : ""}}\n± ${figure(deviation)}\nmax ${figure(max)}`;
        };
        // Letters are light where the ground is dark, and the other way around.
        const cells = plot.cells.map((cell) => {
            const strong = (cell.mean - low) / (high - low || 1) > 0.55;
            const colour = look === DARK ? (strong ? "#10151c" : "#e6ebf2") : (strong ? "#ffffff" : "#1c2430");
            return { cell, value: [cell.column, cell.row, cell.mean], label: { color: colour, rich: { mean: { fontWeight: "bold", fontSize: 14, color: colour, lineHeight: 18 } } } };
        });
        return {
            ...option,
            tooltip: { ...option.tooltip, formatter: ({ data }) => `${plot.columns[data.cell.column]} ${escaped(plot.x)}, ${plot.rows[data.cell.row]} ${escaped(plot.y)}<br><b>${figure(data.cell.mean)}</b> ± ${figure(data.cell.deviation)}, at most ${figure(data.cell.max)} ${escaped(plot.unit)}${data.cell.poor ? "<br>poor overlap" : ""}` },
            grid: { left: 26, right: 12, top: 8, bottom: 74, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
            xAxis: axis(look, { type: "category", data: plot.columns, name: plot.x, nameLocation: "middle", nameGap: 26, splitLine: { show: false } }),
            yAxis: axis(look, { type: "category", data: plot.rows, name: plot.y, nameLocation: "middle", nameGap: 30, splitLine: { show: false } }),
            visualMap: {
                min: low, max: high === low ? low + 1 : high, orient: "horizontal", left: "center", bottom: 0, itemWidth: 14, itemHeight: 160, calculable: false, precision: 2,
                text: [`${figure(high)} ${plot.unit}`, figure(low)], textStyle: { color: look.soft }, inRange: { color: look.heat },
            },
            series: [{ type: "heatmap", data: cells, label: { show: true, formatter: told, lineHeight: 15 }, itemStyle: { borderColor: look.card, borderWidth: 2 } }],
        };
    }

    function times(plot, look) {
        const option = common(look);
        const end = Math.max(...plot.bars.map((bar) => bar[3]));
        const draw = (params, api) => {
            const [x, y] = api.coord([api.value(1), api.value(0)]);
            const width = Math.max(1, api.coord([api.value(2), api.value(0)])[0] - x);
            const height = api.size([0, 1])[1] * 0.7;
            const area = params.coordSys;
            const right = area.x + area.width;
            if (x > right || x + width < area.x) return null;
            // What begins at the very end has its point, too.
            const from = Math.min(Math.max(x, area.x), right - 1);
            const to = Math.max(from + 1, Math.min(x + width, right));
            // Borders would make many short bars, which are much work, look like little.
            const style = to - from > 4 ? { stroke: look.card, lineWidth: 0.5 } : { lineWidth: 0 };
            return { type: "rect", shape: { x: from, y: y - height / 2, width: to - from, height }, style: { fill: api.visual("color"), ...style } };
        };
        const tip = ({ value, seriesName }) => `process ${escaped(plot.processes[value[0]])}, ${escaped(seriesName)}<br>${figure(value[1])} to ${figure(value[2])} ms` +
            `<br>${value[3]} ${value[3] === 1 ? "operation" : "operations"}, ${figure((value[2] - value[1]) / value[3])} ms each`;
        return {
            ...option,
            tooltip: { ...option.tooltip, formatter: tip },
            legend: { ...option.legend, icon: "rect", data: plot.phases },
            grid: { left: 26, right: 16, top: 8, bottom: 94, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
            dataZoom: [
                { type: "slider", xAxisIndex: 0, filterMode: "weakFilter", height: 16, bottom: 30, borderColor: look.line, textStyle: { color: look.soft }, showDataShadow: false, labelFormatter: (value) => `${figure(value)} ms` },
                { type: "inside", xAxisIndex: 0, filterMode: "weakFilter", zoomOnMouseWheel: "ctrl" },
            ],
            xAxis: axis(look, { type: "value", min: 0, max: end, name: "ms since the first start", nameLocation: "middle", nameGap: 24, axisLabel: { color: look.soft, hideOverlap: true, showMaxLabel: false, formatter: (value) => String(+value.toPrecision(4)) } }),
            yAxis: axis(look, { type: "category", data: plot.processes, inverse: true, name: "process", nameLocation: "middle", nameGap: 26, splitLine: { show: false } }),
            series: plot.phases.map((name, phase) => ({
                type: "custom", name, renderItem: draw, encode: { x: [1, 2], y: 0 },
                itemStyle: { color: colourOfPhase(look, name, phase) },
                data: plot.bars.filter((bar) => bar[1] === phase).map(([row, , from, to, count]) => [row, from, to, count]),
            })),
        };
    }

    const KINDS = { lines, bars, heat, times };

    function heightOf(plot, width) {
        if (plot.kind === "times") return 150 + Math.max(5, plot.processes.length) * 16;
        if (plot.kind === "heat") return 100 + Math.max(3, plot.rows.length) * 64;
        const below = legendHeight(plot.series.map((one) => one.name), width);
        if (plot.kind === "lines") return 330 + below;
        const lying = plot.categories.length * Math.max(...plot.categories.map((name) => name.length)) * 7 > width * 0.9;
        const each = plot.stacked ? 30 : plot.categories.length > 8 ? 8 + 9 * plot.series.length : 12 + 16 * plot.series.length;
        return lying ? 60 + below + Math.max(3, plot.categories.length) * each : 300 + below;
    }

    // Gives a file out.
    function save(name, type, text) {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([text], { type }));
        link.download = name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    function svgOf(plot, width, height) {
        const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
        chart.setOption(KINDS[plot.kind](plot, LIGHT, width));
        const text = chart.renderToSVGString();
        chart.dispose();
        return text;
    }

    const quoted = (text) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

    function csvOfTable(table) {
        const rows = [...table.rows].map((row) => [...row.cells].map((cell) => quoted(cell.dataset.value ?? cell.textContent)).join(","));
        return rows.join("\n") + "\n";
    }

    function csvOfTimes(plot) {
        const rows = plot.bars.map(([row, phase, from, to, count]) => [plot.processes[row], plot.phases[phase], from, to, count].join(","));
        return ["process,phase,start_ms,end_ms,operations", ...rows].join("\n") + "\n";
    }

    function button(text, label, action) {
        const made = document.createElement("button");
        made.type = "button";
        made.textContent = text;
        made.setAttribute("aria-label", label);
        made.addEventListener("click", action);
        return made;
    }

    // Whether there are figures, and each has its mark: a bar, a dot, a cell or a stroke.
    function isDrawn(chart) {
        const marks = chart.getModel().getSeries().flatMap((series) => {
            const data = series.getData();
            const numbers = Array.from({ length: data.count() }, (_, number) => number).filter((number) => data.hasValue(number));
            return numbers.map((number) => data.getItemGraphicEl(number));
        });
        return marks.length > 0 && marks.every((mark) => mark && !mark.ignore);
    }

    // One plot in its place; gives the function that takes it away.
    function draw(place, id, plot) {
        const frame = document.createElement("figure");
        frame.className = "plot";
        const caption = document.createElement("figcaption");
        const canvas = document.createElement("div");
        canvas.className = "canvas";
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", plot.alternative);
        caption.append(plot.title);
        const name = `${id}-${plot.title.replace(/[^\w-]+/g, "-")}`;
        const buttons = document.createElement("span");
        buttons.append(button("SVG", `${plot.title} as SVG`, () => save(`${name}.svg`, "image/svg+xml", svgOf(plot, canvas.clientWidth, canvas.clientHeight))));
        if (plot.kind === "times") buttons.append(" ", button("CSV", `${plot.title} as CSV`, () => save(`${name}.csv`, "text/csv", csvOfTimes(plot))));
        caption.append(buttons);
        frame.append(caption, canvas);
        place.append(frame);
        let chart = null, shown = 0;
        const render = () => {
            const width = canvas.clientWidth;
            if (width === 0 || width === shown) return;
            shown = width;
            canvas.style.height = `${heightOf(plot, width)}px`;
            if (chart) chart.dispose();
            chart = echarts.init(canvas, null, { renderer: "svg" });
            chart.setOption(KINDS[plot.kind](plot, dark.matches ? DARK : LIGHT, width));
            canvas.dataset.drawn = String(isDrawn(chart));
        };
        render();
        const observer = new ResizeObserver(render);
        observer.observe(canvas);
        return () => { observer.disconnect(); chart?.dispose(); frame.remove(); };
    }

    // The panel that has most of what is chosen: all of it, if there is one.
    function panelOf(one, chosen, first) {
        const fits = (panel) => Object.entries(chosen).reduce((sum, [name, value]) => sum + (panel.choice[name] === value ? (name === first ? 100 : 1) : 0), 0);
        return one.panels.reduce((best, panel) => fits(panel) > fits(best) ? panel : best);
    }

    function start(one) {
        const section = document.getElementById(one.id);
        const [choices, plots] = [section.querySelector(".choices"), section.querySelector(".plots")];
        const selects = new Map();
        let drawn = [], panel = one.panels[0];
        const show = (next) => {
            panel = next;
            drawn.forEach((away) => away());
            selects.forEach((select, name) => { select.value = panel.choice[name]; });
            drawn = panel.plots.map((plot) => draw(plots, one.id, plot));
        };
        for (const name of Object.keys(panel.choice)) {
            const label = document.createElement("label");
            const select = document.createElement("select");
            for (const value of new Set(one.panels.map((each) => each.choice[name]))) select.add(new Option(value === "" ? "none" : value, value));
            select.addEventListener("change", () => show(panelOf(one, { ...panel.choice, [name]: select.value }, name)));
            label.append(name, select);
            choices.append(label);
            selects.set(name, select);
        }
        show(panel);
        dark.addEventListener("change", () => show(panel));
    }

    figures.forEach(start);
    for (const each of document.querySelectorAll("button.csv")) {
        each.addEventListener("click", () => save(`${each.dataset.of}.csv`, "text/csv", csvOfTable(each.closest("details").querySelector("table"))));
    }
    // For whoever wants a plot from a script: the page's figures, and each as SVG.
    window.report = { figures, svgOf: (id, number = 0) => svgOf(figures.find((one) => one.id === id).panels[0].plots[number], 700, 400) };
    document.documentElement.dataset.ready = "true";
})();
