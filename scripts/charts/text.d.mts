import type { ChartLayout } from "../../web/src/inspector/chart-layout.js";

export function layoutText(layout: ChartLayout): string;
