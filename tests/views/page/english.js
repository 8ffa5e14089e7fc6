// What a page in another language still says in English; what was read by a model is left out.
() => {
  const data = [
    '.token-text', 'bdi', 'math', 'kbd', 'script', 'style', 'noscript', '.digits', '.numbers', '.model', 'h1', 'option',
    '.name', '.vector', '.strip-row', '[lang=en]', 'button[lang]', '.way-said', '.way-word', '.live textarea', '.examples button', 'table.plain', '.link-now', '.tokens', '.chip', '.pane-title', '.field.list .box',
  ].join();
  const said = new Set();
  const add = text => { if (/[A-Za-z]{3}/.test(text.replace(/SHA-256 .*/, '')) && !/[\u3400-\u9fff]/.test(text)) said.add(text.trim()); };
  for (const root of document.body.children) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(data)) add(walker.currentNode.textContent);
    for (const e of root.querySelectorAll('[aria-label], [placeholder]')) {
      if (!e.matches(data)) for (const name of ['aria-label', 'placeholder']) add(e.getAttribute(name) ?? '');
    }
  }
  return [...said];
}
