// Text whose contrast with what is behind it is below 4.5.
() => {
  const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => { const f = [r, g, b].map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const behind = e => { for (let x = e; x; x = x.parentElement) { const s = getComputedStyle(x); const c = parse(s.backgroundColor);
    if (s.backgroundImage !== 'none' && x !== document.body) return null;
    if (c.length < 4 || c[3] > 0.99) if (c.length) return c; } return [255, 255, 255]; };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !e.checkVisibility() || e.closest('script, style, option, .unseen, .skip, dialog:not([open])')) continue;
    const back = behind(e); if (!back) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(back)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) bad.push(walker.currentNode.textContent.slice(0, 20) + ' ' + contrast.toFixed(2));
  }
  return bad;
}
