"""Colours and type of reports: for paper and screen, distinguishable without red and green."""

from __future__ import annotations

FONT = '"Source Sans 3","Segoe UI","Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif'

# Blue against orange, dark against light: told apart with any kind of colour blindness and in
# grey. Each mark has a letter or a pattern as well.
_LIGHT = """
--t-page:#ffffff;--t-panel:#f4f6f8;--t-ink:#1b2733;--t-soft:#55626f;--t-rule:#d3dae0;
--t-accent:#1f4e79;
--t-v1:#edf2f7;--t-v2:#d5e2ee;--t-v3:#b3cbe0;--t-v4:#86abca;--t-v5:#47769d;
--t-hidden:#454d56;--t-hidden-ink:#ffffff;
--t-sensitive:#b3400a;--t-sensitive-ink:#ffffff;
--t-secondary:#f0b354;--t-secondary-line:#c57f0c;--t-secondary-ink:#3a2500;
--t-interval:#a9d5c9;--t-interval-line:#3f8f7c;--t-interval-ink:#0c3b30;
--t-line:#1f4e79;--t-line-two:#b3400a;"""
_DARK = """
--t-page:#14191f;--t-panel:#1d242c;--t-ink:#e6ebf0;--t-soft:#a3afba;--t-rule:#38434e;
--t-accent:#8db9e2;
--t-v1:#1f2a35;--t-v2:#263a4d;--t-v3:#305069;--t-v4:#3e6a8b;--t-v5:#5589b0;
--t-hidden:#eef1f4;--t-hidden-ink:#14191f;
--t-sensitive:#f0763a;--t-sensitive-ink:#1d0d02;
--t-secondary:#7d5615;--t-secondary-line:#e0a83f;--t-secondary-ink:#fff1d6;
--t-interval:#24584d;--t-interval-line:#6cc2ae;--t-interval-ink:#dff5ef;
--t-line:#8db9e2;--t-line-two:#f0763a;"""

_SHAPES = f"""
.tacit-picture{{font-family:{FONT};font-size:12px;max-width:100%;height:auto;fill:var(--t-ink);
font-variant-numeric:tabular-nums lining-nums}}
.t-surface{{fill:var(--t-page)}}.t-soft{{fill:var(--t-soft);paint-order:stroke;stroke:var(--t-page);stroke-width:3px}}
.t-strong{{font-weight:600}}
.t-rule{{stroke:var(--t-rule);stroke-width:1;fill:none}}
.t-axis{{stroke:var(--t-soft);stroke-width:1;fill:none}}
.t-cell{{stroke:var(--t-page);stroke-width:1}}.t-crisp{{shape-rendering:crispEdges}}
.t-v1{{fill:var(--t-v1)}}.t-v2{{fill:var(--t-v2)}}
.t-v3{{fill:var(--t-v3)}}.t-v4{{fill:var(--t-v4)}}.t-v5{{fill:var(--t-v5)}}
.t-hidden{{fill:var(--t-hidden)}}.t-sensitive{{fill:var(--t-sensitive)}}
.t-hidden-ink{{fill:var(--t-hidden-ink)}}.t-sensitive-ink{{fill:var(--t-sensitive-ink)}}
.t-secondary-ink{{fill:var(--t-secondary-ink);stroke:var(--t-secondary)}}
.t-interval-ink{{fill:var(--t-interval-ink);stroke:var(--t-interval)}}
.t-secondary-ink,.t-interval-ink{{paint-order:stroke;stroke-width:4px}}
.t-secondary{{fill:var(--t-secondary)}}.t-interval{{fill:var(--t-interval)}}
.t-line{{stroke:var(--t-line);stroke-width:2;fill:none}}
.t-line-two{{stroke:var(--t-line-two);stroke-width:2;fill:none;stroke-dasharray:6 3}}
.t-line-ink{{fill:var(--t-line)}}.t-line-two-ink{{fill:var(--t-line-two)}}
.t-ground{{fill:var(--t-panel)}}"""

PICTURE_STYLE = (
    f".tacit-picture{{{_LIGHT}}}"
    f"@media (prefers-color-scheme:dark){{.tacit-picture{{{_DARK}}}}}"
    f"@media print{{.tacit-picture{{{_LIGHT}}}}}{_SHAPES}"
)
"""For a picture that stands alone."""

PAGE_STYLE = f"""
:root{{color-scheme:light dark;{_LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--t-page);color:var(--t-ink);font:16px/1.55 {FONT};
font-variant-numeric:lining-nums}}
main,header.masthead,footer{{max-width:62rem;margin:0 auto;padding:0 1.5rem}}
header.masthead{{padding-top:2.5rem}}
.kind{{color:var(--t-accent);font-size:.85rem;letter-spacing:.06em;text-transform:uppercase;
font-weight:600;margin:0 0 .4rem}}
h1{{font-size:2rem;line-height:1.2;margin:0 0 .3rem;font-weight:600;letter-spacing:-.01em}}
h2{{font-size:1.3rem;line-height:1.3;margin:3rem 0 .5rem;padding-top:.8rem;
border-top:2px solid var(--t-accent);font-weight:600}}
p{{margin:.5rem 0;max-width:44rem}}
.lead{{color:var(--t-soft);font-size:1.05rem;margin:0 0 1rem}}
a{{color:var(--t-accent)}}
:focus-visible{{outline:3px solid var(--t-accent);outline-offset:2px}}
.skip{{position:absolute;left:-99rem}}.skip:focus{{left:1rem;top:.5rem}}
.warning{{border:2px solid var(--t-sensitive);padding:.6rem 1rem;margin:1rem 0;font-weight:600;
max-width:none}}
nav ul{{list-style:none;padding:0;margin:1rem 0 0;display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;
font-size:.95rem}}
.figures{{display:flex;flex-wrap:wrap;margin:1.6rem 0;padding:0;
border-block:1px solid var(--t-rule)}}
.figures div{{flex:1 1 9.5rem;padding:.8rem .9rem;margin-left:-1px;
border-left:1px solid var(--t-rule)}}
.figures div:first-child{{padding-left:0;border-left:0;margin-left:0}}
.figures dd{{font-size:1.65rem;line-height:1.2;margin:0;font-weight:600;
font-variant-numeric:tabular-nums}}
.figures dt{{color:var(--t-soft);font-size:.9rem}}
.figures div{{display:flex;flex-direction:column-reverse;justify-content:flex-end}}
figure{{margin:1rem 0 1.5rem}}figcaption{{color:var(--t-soft);font-size:.92rem;max-width:44rem;
margin-top:.5rem}}
.scroll{{overflow-x:auto}}
@media screen and (max-width:45rem){{.tacit-picture{{max-width:none}}}}
table{{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums lining-nums}}
caption{{text-align:left;color:var(--t-soft);padding-bottom:.3rem}}
th,td{{padding:.22rem .9rem .22rem 0;text-align:right;border-bottom:1px solid var(--t-rule);
vertical-align:top}}
th{{font-weight:600}}thead th{{border-bottom:1px solid var(--t-ink)}}
th[scope=row],td.words,th.words{{text-align:left}}th[scope=row]{{font-weight:400}}
table.facts th{{color:var(--t-soft);white-space:nowrap;padding-right:1.6rem}}
table.facts td{{text-align:left;max-width:40rem}}
table.cells td,table.cells th{{white-space:nowrap}}
table.cells th[scope=row].top,table.cells tr.top td{{font-weight:600}}
td.mark{{color:var(--t-soft)}}
details{{margin:.5rem 0}}summary{{cursor:pointer;color:var(--t-accent);font-size:.92rem}}
footer{{color:var(--t-soft);font-size:.9rem;margin-top:3rem;padding-bottom:3rem}}
footer p{{border-top:1px solid var(--t-rule);padding-top:.8rem;max-width:none}}
@media print{{
:root{{color-scheme:light;{_LIGHT}}}
@page{{margin:18mm 16mm}}
body{{font-size:10.5pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}}
main,header.masthead,footer{{max-width:none;padding:0}}
nav,.skip{{display:none}}.figures div{{flex-basis:7.5rem}}.figures dd{{font-size:15pt}}
h2{{break-after:avoid;margin-top:1.6rem}}
figure,.figures,table.facts{{break-inside:avoid}}.tacit-picture{{max-height:235mm}}
.scroll{{overflow:visible}}thead{{display:table-header-group}}tr{{break-inside:avoid}}
details:not([open]){{display:none}}
@page wide{{size:A4 landscape;margin:14mm}}
.many{{page:wide}}.many table.cells{{font-size:6.5pt}}
.many table.cells td,.many table.cells th{{padding-right:.5em}}
}}{_SHAPES}"""
"""For a page."""
