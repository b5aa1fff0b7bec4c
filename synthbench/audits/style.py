"""The look of an audit's page: system letters, light or dark as the reader has it."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c1f23; --paper: #ffffff; --faint: #d5d9de;
  --quiet: #57606a; --link: #0550ae;
  --s0: #0064a8; --s1: #b84a00; --s2: #00795a; --s3: #a3418a; --s4: #6b5d00; --s5: #5b5f66; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171a; --faint: #3a4047;
  --quiet: #a4acb5; --link: #7fb8ff;
  --s0: #63b3f2; --s1: #f0975a; --s2: #3fc79d; --s3: #e59bd0; --s4: #d8c850; --s5: #b3b9c0; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
a { color: var(--link); }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--faint); }
figure { margin: 1.5rem 0; }
figcaption { color: var(--quiet); }
svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: currentColor; }
svg .grid { stroke: var(--faint); }
svg .chance { stroke: currentColor; stroke-width: 1.5; }
svg .interval { stroke-width: 2.5; stroke-opacity: 0.6; }
.s0 { fill: var(--s0); stroke: var(--s0); } .s1 { fill: var(--s1); stroke: var(--s1); }
.s2 { fill: var(--s2); stroke: var(--s2); } .s3 { fill: var(--s3); stroke: var(--s3); }
.s4 { fill: var(--s4); stroke: var(--s4); } .s5 { fill: var(--s5); stroke: var(--s5); }
rect { stroke: none !important; }
.legend { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0; margin: 0; }
.key { display: inline-block; width: 0.8em; height: 0.8em; margin-right: 0.4em; }
.key.s0 { background: var(--s0); } .key.s1 { background: var(--s1); }
.key.s2 { background: var(--s2); } .key.s3 { background: var(--s3); }
.key.s4 { background: var(--s4); } .key.s5 { background: var(--s5); }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
caption { text-align: left; color: var(--quiet); padding-bottom: 0.3rem; }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; text-align: left; border-bottom: 1px solid var(--faint);
  white-space: nowrap; vertical-align: top; }
th { font-weight: 600; }
tbody th { font-weight: 400; }
details td { white-space: normal; }
summary { cursor: pointer; color: var(--link); }
"""
