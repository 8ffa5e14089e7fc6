// What a screen reader would have no name for, and other faults of structure.
() => {
  const bad = [];
  const named = e => e.getAttribute('aria-label') || e.textContent.trim() || e.title ||
    e.labels?.length && e.labels[0].textContent.trim() || e.getAttribute('aria-labelledby');
  for (const e of document.querySelectorAll('button, input, select, [role=grid], [role=listbox], [role=application], [role=tabpanel], dialog, section, nav')) {
    const quiet = e.tagName === 'SECTION' && !e.getAttribute('role');
    if (!quiet && !named(e)) bad.push(e.outerHTML.slice(0, 80));
  }
  for (const e of document.querySelectorAll('canvas, svg')) {
    if (e.getAttribute('aria-hidden') !== 'true' && !named(e)) bad.push(e.outerHTML.slice(0, 80));
  }
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  for (const id of ids) if (ids.filter(x => x === id).length > 1) bad.push('two #' + id);
  for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) bad.push('tabindex ' + e.outerHTML.slice(0, 60));
  for (const e of document.querySelectorAll('[role=gridcell]')) if (!e.closest('[role=row]')) bad.push('cell without row');
  if (document.querySelectorAll('h1').length !== 1 || !document.documentElement.lang || !document.title) bad.push('page');
  return bad;
}
