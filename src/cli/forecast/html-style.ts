/** The look of the forecast page. Colours are named once, for light and dark. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --back: #fbfbfa; --card: #fff; --ink: #1c2024; --soft: #5f6872; --line: #dfe3e7;
  --with: #1668b8; --without: #c2570c; --focus: #1668b8; --mark: #e9eef4; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --card: #1c2125; --ink: #e8eaed; --soft: #a3adb8;
  --line: #343b42; --with: #6cb2f5; --without: #f0a35e; --focus: #8cc4ff; --mark: #262d34; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 1.05rem; margin: 32px 0 8px; }
footer { margin-top: 28px; }
p { margin: 0 0 12px; }
.soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0; padding: 0; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
.cards dt { color: var(--soft); font-size: .85rem; }
.cards dd { margin: 0; font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.cards small { display: block; color: var(--soft); font-size: .8rem; font-weight: 400; }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px; }
.bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 10px; }
button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: 5px 10px; cursor: pointer; }
button[aria-pressed="true"] { background: var(--mark); border-color: var(--soft); }
button[aria-pressed="false"] { color: var(--soft); }
button i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 7px; background: var(--with); }
button i.out { background: var(--without); }
button[aria-pressed="false"] i { opacity: .35; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
#chart { display: block; width: 100%; height: 340px; touch-action: pan-y; border-radius: 4px; }
#chart text { fill: var(--soft); font: 12px system-ui, sans-serif; }
#chart .grid { stroke: var(--line); fill: none; }
#chart .chosen { fill: var(--with); }
#chart .nominal { fill: var(--without); }
#chart .cursor { stroke: var(--ink); stroke-width: 1; }
#detail { min-height: 6.6em; margin: 10px 0 0; overflow-wrap: anywhere; }
#detail b { font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: 4px; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; font-size: .85rem; white-space: nowrap; }
td.n, th.n { text-align: right; }
td.who { overflow-wrap: anywhere; min-width: 14em; }
th:first-child, td:first-child:not(.who) { width: 1%; }
td button { white-space: nowrap; padding: 1px 8px; }
@media (max-width: 560px) { main { padding: 16px 12px 32px; } .panel { padding: 10px; } #chart { height: 280px; }
  .cards { grid-template-columns: 1fr 1fr; gap: 8px; } .cards dd { font-size: 1.25rem; }
  .cards div:last-child:nth-child(odd) { grid-column: 1 / -1; }
  .peaks thead { display: none; } .peaks tr { display: flex; flex-wrap: wrap; align-items: center; padding: 8px 0;
    border-bottom: 1px solid var(--line); } .peaks td, .peaks td:first-child:not(.who) { border: 0; padding: 0 12px 0 0; width: auto; } .peaks td.n { font-weight: 600; }
  .peaks td.who { flex-basis: 100%; padding-top: 4px; min-width: 0; } }
@media print { .bar, #detail { display: none; } }
`;
